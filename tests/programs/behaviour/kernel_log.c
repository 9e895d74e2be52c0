/* The kernel's log, if it may be read, and the file system names of sysfs(2). */
#define _GNU_SOURCE
#include "check.h"

int main(void) {
  enum { kReadAll = 3, kSize = 10, kNameOf = 2 };
  static char text[65536];
  const long bytes = syscall(SYS_syslog, kReadAll, text, sizeof text);
  unsigned hash = 0;
  for (long i = 0; i < bytes; i++) hash = hash * 31 + (unsigned char)text[i];
  printf("%ld bytes, hash %x, of %d\n", bytes, hash, syscall(SYS_syslog, kSize, NULL, 0) > 0);
  char name[256] = "none";
  const long result = syscall(SYS_sysfs, kNameOf, 0, name);
  printf("%ld %s\n", result, name);
  return 0;
}
