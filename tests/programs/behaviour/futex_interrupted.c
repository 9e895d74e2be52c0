/* A handler with SA_RESTART ends a futex wait that has a time limit, but not one without. Waiting for a lock with
   priority inheritance continues whatever handlers run. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>
#include "check.h"

static int word, lock;
static volatile int handled;
static pthread_t first;

static void count(int number, siginfo_t* info, void* context) {
  (void)number, (void)info, (void)context;
  handled++;
}

static void pause_briefly(void) { nanosleep(&(struct timespec){0, 20000000}, NULL); }

/* Interrupts the first thread, and later wakes it. */
static void* disturb(void* unused) {
  pause_briefly();
  pthread_kill(first, SIGUSR1);
  pause_briefly();
  word = 1;
  syscall(SYS_futex, &word, FUTEX_WAKE, 1);
  return unused;
}

static void* hold(void* unused) {
  CHECK(syscall(SYS_futex, &lock, FUTEX_LOCK_PI, 0, NULL) == 0);
  pause_briefly();
  pthread_kill(first, SIGUSR1);
  pause_briefly();
  CHECK(syscall(SYS_futex, &lock, FUTEX_UNLOCK_PI) == 0);
  return unused;
}

static pthread_t start(void* (*body)(void*)) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, body, NULL) == 0);
  return thread;
}

int main(void) {
  const struct timespec long_time = {20, 0};
  struct timespec deadline;
  sem_t semaphore;
  first = pthread_self();
  on_signal(SIGUSR1, count, SA_RESTART);
  pthread_t other = start(disturb);
  FAILS(syscall(SYS_futex, &word, FUTEX_WAIT, 0, &long_time), EINTR);
  pthread_join(other, NULL);
  word = 0;
  other = start(disturb);
  CHECK(syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL) == 0 && handled == 2);
  pthread_join(other, NULL);
  CHECK(sem_init(&semaphore, 0, 0) == 0 && clock_gettime(CLOCK_REALTIME, &deadline) == 0);
  deadline.tv_sec += 20;
  other = start(disturb);
  FAILS(sem_timedwait(&semaphore, &deadline), EINTR);
  pthread_join(other, NULL);
  on_signal(SIGUSR1, count, 0);
  other = start(hold);
  while (__atomic_load_n(&lock, __ATOMIC_SEQ_CST) == 0) pause_briefly();
  CHECK(syscall(SYS_futex, &lock, FUTEX_LOCK_PI, 0, NULL) == 0 && handled == 4);
  pthread_join(other, NULL);
  puts("interrupted where it should be");
  return 0;
}
