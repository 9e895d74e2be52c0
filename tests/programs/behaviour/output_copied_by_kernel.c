/* sendfile and splice to standard output: a replay repeats the data that the kernel copied there. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/sendfile.h>

#include "check.h"

static int ends[2];

static void* feed(void* nothing) {
  usleep(1000);
  CHECK(write(ends[1], "from a thread\n", 14) == 14);
  return nothing;
}

static void by_sendfile(void) {
  char name[] = "/tmp/reweave-send-XXXXXX";
  int file = mkstemp(name);
  CHECK(unlink(name) == 0 && write(file, "first second third\n", 19) == 19);
  off_t offset = 6;
  CHECK(sendfile(1, file, &offset, 7) == 7 && offset == 13);
  CHECK(lseek(file, 0, SEEK_SET) == 0);
  CHECK(sendfile(1, file, NULL, 6) == 6 && lseek(file, 0, SEEK_CUR) == 6);
  CHECK(sendfile(1, file, NULL, 1000) == 13);
  CHECK(sendfile(1, file, NULL, 1000) == 0);
  FAILS(sendfile(1, ends[0], NULL, 1), EINVAL);
}

static void by_splice(void) {
  pthread_t thread;
  CHECK(write(ends[1], "through a pipe\n", 15) == 15);
  CHECK(splice(ends[0], NULL, 1, NULL, 8, 0) == 8);
  CHECK(splice(ends[0], NULL, 1, NULL, 100, 0) == 7);
  FAILS(splice(ends[0], NULL, 1, NULL, 1, SPLICE_F_NONBLOCK), EAGAIN);
  CHECK(pthread_create(&thread, NULL, feed, NULL) == 0);
  CHECK(splice(ends[0], NULL, 1, NULL, 100, 0) == 14);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(close(ends[1]) == 0 && splice(ends[0], NULL, 1, NULL, 100, 0) == 0);
}

int main(void) {
  CHECK(pipe(ends) == 0);
  by_sendfile();
  by_splice();
  puts("copied");
  return 0;
}
