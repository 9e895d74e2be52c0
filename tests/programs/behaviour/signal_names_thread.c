/* tgkill names a thread by its process and its own id: a thread of another process is not found. */
#define _GNU_SOURCE
#include <pthread.h>
#include "check.h"

static long send(long process, long thread, int number) { return syscall(SYS_tgkill, process, thread, number); }

static void* other(void* arg) {
  pid_t parent = getppid(), own = getpid(), thread = (pid_t)syscall(SYS_gettid);
  (void)arg;
  FAILS(send(parent, thread, SIGUSR2), ESRCH);
  FAILS(send(own, parent, SIGUSR2), ESRCH);
  FAILS(send(parent, own, SIGKILL), ESRCH);
  FAILS(send(own, thread, 1000), EINVAL);
  FAILS(send(0, thread, SIGUSR2), EINVAL);
  CHECK(send(own, thread, 0) == 0 && send(parent, parent, 0) == 0);
  return NULL;
}

int main(void) {
  pid_t child = fork();
  if (child == 0) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, other, NULL) == 0 && pthread_join(thread, NULL) == 0);
    _exit(0);
  }
  expect_success(child);
  puts("named");
  return 0;
}
