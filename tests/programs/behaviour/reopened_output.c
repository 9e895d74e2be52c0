/* Standard output, opened anew by the names it has: a replay repeats what is written there as well. */
#define _GNU_SOURCE
#include "check.h"

static void say(const char* path, const char* words) {
  int fd = open(path, O_WRONLY | O_APPEND);
  if (fd < 0) return; /* a socket has no such name */
  CHECK(write(fd, words, strlen(words)) == (ssize_t)strlen(words));
  int twin = dup(fd);
  CHECK(close(fd) == 0 && write(twin, "again\n", 6) == 6 && close(twin) == 0);
}

int main(void) {
  char path[64];
  say("/dev/stdout", "by /dev/stdout\n");
  say("/dev/fd/1", "by /dev/fd/1\n");
  say("/proc/self/fd/1", "by /proc/self/fd/1\n");
  snprintf(path, sizeof path, "/proc/%d/fd/1", getpid());
  say(path, "by /proc/PID/fd/1\n");
  say("/dev/null", "nowhere\n");
  lseek(1, 0, SEEK_END); /* if it is a file, its own position is still at the start */
  puts("done");
  return 0;
}
