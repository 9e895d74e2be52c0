/* Works like a just-in-time compiler: hot system calls in code that is then rewritten or copied, and in a library's
 * code that is made writable. */
#define _GNU_SOURCE
#include <sys/personality.h>

#include "check.h"

enum { kCalls = 10, kRoom = 4096, kAt = 64 };

/* mov $39, %eax; syscall; ret: getpid. */
static const unsigned char kCode[] = {0xb8, 39, 0, 0, 0, 0x0f, 0x05, 0xc3};

static unsigned char* room_for_code(int fd) {
  const int how = MAP_PRIVATE | (fd < 0 ? MAP_ANONYMOUS : 0);
  unsigned char* code = mmap(NULL, kRoom, PROT_READ | PROT_WRITE, how, fd, 0);
  CHECK(code != MAP_FAILED);
  return code;
}

static void protect(unsigned char* code, int prot) { CHECK(mprotect(code, kRoom, prot) == 0); }

static void call_often(const unsigned char* code, pid_t expected) {
  long (*function)(void) = (long (*)(void))(code + kAt);
  for (int i = 0; i < kCalls; i++) CHECK(function() == expected);
}

/* Changes the number of the call to that of getppid. */
static void rewrite(unsigned char* code) {
  const int number = SYS_getppid;
  CHECK(memcmp(code + kAt, kCode, sizeof kCode) == 0);
  memcpy(code + kAt + 1, &number, sizeof number);
}

static void check_rewritten(int fd) {
  unsigned char* code = room_for_code(fd);
  memset(code, 0x90, 2 * kAt);
  memcpy(code + kAt, kCode, sizeof kCode);
  protect(code, PROT_READ | PROT_EXEC);
  call_often(code, getpid());
  protect(code, PROT_READ);
  protect(code, PROT_READ | PROT_WRITE);
  rewrite(code);
  protect(code, PROT_READ | PROT_EXEC);
  call_often(code, getppid());
  protect(code, PROT_READ | PROT_WRITE | PROT_EXEC);
  call_often(code, getppid());
}

static void check_copied(void) {
  unsigned char *code = room_for_code(-1), *copy = room_for_code(-1);
  memcpy(code + kAt, kCode, sizeof kCode);
  protect(code, PROT_READ | PROT_EXEC);
  call_often(code, getpid());
  memcpy(copy, code, kRoom);
  protect(copy, PROT_READ | PROT_EXEC);
  call_often(copy, getpid());
}

static void check_moved(int fd) {
  unsigned char* code = room_for_code(fd);
  memcpy(code + kAt, kCode, sizeof kCode);
  protect(code, PROT_READ | PROT_EXEC);
  call_often(code, getpid());
  unsigned char* place = room_for_code(-1);
  CHECK(mremap(code, kRoom, kRoom, MREMAP_MAYMOVE | MREMAP_FIXED, place) == place);
  CHECK(memcmp(place + kAt, kCode, sizeof kCode) == 0);
  call_often(place, getpid());
}

/* rdtsc in the last two bytes of a mapping: a jump in its place would not fit. */
static void check_at_the_end(void) {
  static const unsigned char kClock[] = {0x0f, 0x31}, kReturn[] = {0xc3};
  const int file = memfd_create("code", 0);
  CHECK(file >= 0 && ftruncate(file, 2 * kRoom) == 0);
  CHECK(pwrite(file, kClock, 2, kRoom - 2) == 2 && pwrite(file, kReturn, 1, kRoom) == 1);
  unsigned char* code = mmap(NULL, 2 * kRoom, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const int prot = PROT_READ | PROT_EXEC;
  CHECK(mmap(code, kRoom, prot, MAP_PRIVATE | MAP_FIXED, file, 0) == code);
  CHECK(mmap(code + kRoom, kRoom, prot, MAP_SHARED | MAP_FIXED, file, kRoom) == code + kRoom);
  long (*function)(void) = (long (*)(void))(code + kRoom - 2);
  for (int i = 0; i < kCalls; i++) CHECK(function() != 0);
}

/* With READ_IMPLIES_EXEC, which may not be permitted, all readable memory is executable. */
static void check_readable(void) {
  static const unsigned char kClock[] = {0x0f, 0x31, 0xc3};
  if (personality(READ_IMPLIES_EXEC) < 0) return;
  unsigned char *code = room_for_code(-1), *later = room_for_code(-1);
  memcpy(code + kAt, kCode, sizeof kCode);
  call_often(code, getpid());
  memcpy(later, kClock, sizeof kClock);
  protect(later, PROT_READ);
  for (int i = 0; i < kCalls; i++) CHECK(((long (*)(void))later)() != 0);
  CHECK(personality(0xffffffff) == READ_IMPLIES_EXEC);
}

int main(void) {
  char name[] = "code_made_at_run_time_XXXXXX";
  const int file = mkstemp(name);
  CHECK(file >= 0 && unlink(name) == 0 && ftruncate(file, kRoom) == 0);
  check_rewritten(-1);
  check_rewritten(file);
  check_copied();
  check_moved(-1);
  check_moved(file);
  check_at_the_end();
  check_readable();
  puts("made");
  return 0;
}
