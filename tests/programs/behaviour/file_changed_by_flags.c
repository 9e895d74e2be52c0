/* A mapped file that changes because of flags: O_APPEND makes positioned writes append, and O_TRUNC truncates a file
 * when it is opened. */
#define _GNU_SOURCE
#include <linux/openat2.h>
#include <sys/uio.h>

#include "check.h"

enum { kPiece = 4000, kBytes = 3 * 4096, kAppend = 0x10 /* RWF_APPEND */ };

static char name[] = "file_changed_by_flags_XXXXXX";
static char piece[kPiece];
static char* memory;
static int file;

static const char* filled(char with) { return memset(piece, with, kPiece); }

static void check_appending(void) {
  CHECK(fcntl(file, F_SETFL, O_APPEND) == 0);
  CHECK(write(file, filled('a'), kPiece) == kPiece);
  CHECK(pwrite(file, filled('b'), kPiece, 0) == kPiece);
  CHECK(memory[0] == 'a' && memory[kPiece] == 'b' && memory[2 * kPiece - 1] == 'b' && memory[2 * kPiece] == 0);
  CHECK(fcntl(file, F_SETFL, 0) == 0);
  const struct iovec vector = {piece, kPiece};
  filled('c');
  CHECK(pwritev2(file, &vector, 1, 0, kAppend) == kPiece);
  CHECK(memory[0] == 'a' && memory[2 * kPiece] == 'c' && memory[3 * kPiece - 1] == 'c');
}

static void expect_emptied(int opened) {
  CHECK(opened >= 0 && close(opened) == 0 && ftruncate(file, kBytes) == 0);
  CHECK(memory[0] == 0 && memory[kPiece] == 0 && memory[2 * kPiece] == 0);
  CHECK(pwrite(file, filled('d'), kPiece, 0) == kPiece && memory[kPiece - 1] == 'd');
}

/* Needs privileges and a file system that supports it. */
static int open_by_handle(int flags) {
  union {
    struct file_handle handle;
    char room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
  } place;
  int mount, folder = open(".", O_RDONLY);
  place.handle.handle_bytes = MAX_HANDLE_SZ;
  if (name_to_handle_at(AT_FDCWD, name, &place.handle, &mount, 0) != 0) return -1;
  return open_by_handle_at(folder, &place.handle, flags);
}

int main(void) {
  const struct open_how how = {.flags = O_RDWR | O_TRUNC};
  file = mkstemp(name);
  memory = mmap(NULL, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  CHECK(file >= 0 && memory != MAP_FAILED);
  check_appending();
  expect_emptied((int)syscall(SYS_openat2, AT_FDCWD, name, &how, sizeof how));
  expect_emptied(creat(name, 0600));
  const int opened = open_by_handle(O_RDWR | O_TRUNC);
  if (opened >= 0) expect_emptied(opened);
  CHECK(unlink(name) == 0);
  puts("changed");
  return 0;
}
