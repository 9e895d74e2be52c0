/* The older getdents shows what getdents64 shows, in pieces of any size: of /proc/self/fd the program's descriptors. */
#define _GNU_SOURCE
#include <dirent.h>

#include "check.h"

/* Counts the entries of `path`, listed by `call` with a buffer of `room` bytes. */
static int count(long call, const char* path, size_t room) {
  char bytes[1024];
  int folder = open(path, O_RDONLY | O_DIRECTORY), entries = 0;
  long got;
  CHECK(folder >= 0 && room <= sizeof bytes);
  while ((got = syscall(call, folder, bytes, room)) > 0)
    for (long at = 0; at < got; entries++) {
      unsigned short size;
      memcpy(&size, bytes + at + 16, sizeof size);
      at += size;
    }
  CHECK(got == 0 && close(folder) == 0);
  return entries;
}

int main(void) {
  const char* path = "/proc/self/fd";
  int entries = count(SYS_getdents64, path, 1024);
  CHECK(count(SYS_getdents, path, 1024) == entries && count(SYS_getdents, path, 64) == entries);
  CHECK(count(SYS_getdents64, path, 64) == entries);
  printf("%d\n", entries);
  return 0;
}
