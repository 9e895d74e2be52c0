/* Far more input than the recorder's ring holds, none of which a replay can read again: in small and large portions,
 * slowly, so that the recorder keeps up, and at once, so that it does not; by two processes in turn. */
#define _GNU_SOURCE
#include <sys/wait.h>

#include "check.h"

enum { kMiB = 1 << 20 };

static unsigned char buffer[3 * kMiB];
static unsigned long hash = 5381;

static void take(int fd, long portion, long bytes, int pause_us) {
  for (; bytes > 0; bytes -= portion) {
    CHECK(read(fd, buffer, (size_t)portion) == portion);
    for (long i = 0; i < portion; i += 61) hash = hash * 33 + buffer[i];
    if (pause_us != 0) usleep((useconds_t)pause_us);
  }
}

int main(void) {
  int fd = open("/dev/urandom", O_RDONLY), status = 0;
  CHECK(fd >= 0);
  take(fd, 8192, 3 * kMiB, 100);
  take(fd, 3 * kMiB, 18 * kMiB, 0);
  take(fd, 24, 24 * 4000, 0);
  pid_t child = fork();
  CHECK(child >= 0);
  take(fd, 8192, 2 * kMiB, 100);
  take(fd, 64 * 1024, 2 * kMiB, 0);
  printf("%s: %lx\n", child == 0 ? "child" : "parent", hash);
  fflush(stdout);
  if (child == 0) _exit(0);
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  puts("ok");
  return 0;
}
