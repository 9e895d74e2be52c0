/* Memory written through /proc/PID/mem: the process's own by every name it has, code, read-only pages, a child's. */
#define _GNU_SOURCE
#include <sys/uio.h>
#include "check.h"

static const size_t kPage = 4096;

static char* page(int protection) {
  char* p = mmap(NULL, kPage, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(p != MAP_FAILED);
  return p;
}

static int memory_of(const char* format, int pid, int tid) {
  char path[64];
  snprintf(path, sizeof path, format, pid, tid);
  int fd = open(path, O_RDWR);
  CHECK(fd >= 0);
  return fd;
}

static void own(int fd) {
  char* p = page(PROT_READ | PROT_WRITE);
  char read_back[8] = "";
  CHECK(pwrite(fd, "first", 6, (off_t)p) == 6 && strcmp(p, "first") == 0);
  CHECK(mprotect(p, kPage, PROT_READ) == 0);
  CHECK(pwrite(fd, "F", 1, (off_t)p) == 1 && p[0] == 'F');
  CHECK(lseek(fd, (off_t)p + 1, SEEK_SET) == (off_t)p + 1 && write(fd, "IR", 2) == 2 && strcmp(p, "FIRst") == 0);
  struct iovec parts[2] = {{"S", 1}, {"T", 1}};
  CHECK(writev(fd, parts, 2) == 2 && pread(fd, read_back, 6, (off_t)p) == 6 && strcmp(read_back, "FIRST") == 0);
  int twin = dup(fd);
  CHECK(pwritev(twin, parts, 2, (off_t)p) == 2 && strcmp(p, "STRST") == 0 && close(twin) == 0);
  FAILS(pwrite(fd, "x", 1, 8), EIO);
  CHECK(munmap(p, kPage) == 0 && close(fd) == 0);
}

static void code(void) {
  static const unsigned char kReturnsOne[] = {0xb8, 1, 0, 0, 0, 0xc3};
  char* p = page(PROT_READ | PROT_WRITE);
  memcpy(p, kReturnsOne, sizeof kReturnsOne);
  CHECK(mprotect(p, kPage, PROT_READ | PROT_EXEC) == 0);
  int (*function)(void) = (int (*)(void))(uintptr_t)p;
  CHECK(function() == 1);
  int fd = open("/proc/self/mem", O_WRONLY);
  CHECK(fd >= 0 && pwrite(fd, "\2", 1, (off_t)p + 1) == 1 && function() == 2);
  close(fd);
}

static void of_child(void) {
  char* p = page(PROT_READ | PROT_WRITE);
  strcpy(p, "inherited");
  int ends[2];
  char byte;
  CHECK(pipe(ends) == 0);
  pid_t child = fork();
  if (child == 0) {
    CHECK(read(ends[0], &byte, 1) == 1 && strcmp(p, "from outside") == 0);
    printf("%s\n", p);
    fflush(stdout);
    _exit(0);
  }
  int fd = memory_of("/proc/%d/mem", child, 0);
  CHECK(pwrite(fd, "from outside", 13, (off_t)p) == 13 && strcmp(p, "inherited") == 0);
  CHECK(write(ends[1], "x", 1) == 1);
  expect_success(child);
}

int main(void) {
  own(open("/proc/self/mem", O_RDWR));
  own(memory_of("/proc/%d/mem", getpid(), 0));
  own(memory_of("/proc/%d/task/%d/mem", getpid(), getpid()));
  code();
  of_child();
  puts("written");
  return 0;
}
