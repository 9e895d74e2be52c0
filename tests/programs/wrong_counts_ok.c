/* Invalid counts of descriptors and buffers, on a pipe that another thread writes to. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static int ends[2];

static void* other(void* p) { return write(ends[1], "x", 1) == 1 ? NULL : p; }

static int is_refused(long result) { return result == -1 && errno == EINVAL; }

int main(void) {
  pthread_t thread;
  if (pipe(ends) != 0) return 1;
  struct pollfd list[2] = {{ends[0], POLLIN, 0}, {ends[0], POLLIN, 0}};
  struct iovec span = {list, 8};
  pthread_create(&thread, NULL, other, NULL);
  int right = is_refused(syscall(SYS_poll, list, -1L, 0));
  right += is_refused(syscall(SYS_readv, ends[0], &span, -1L));
  right += is_refused(syscall(SYS_writev, ends[1], &span, 5000L));
  pthread_join(thread, NULL);
  printf("%d refused\n", right);
  return right == 3 ? 0 : 1;
}
