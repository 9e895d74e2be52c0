/* Futexes: one of several waited for, the condition variable's hand-over to a lock with inheritance, bad time-outs. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <time.h>

#include "check.h"

static int first, second, lock, started;

static long futex(int* at, int op, int value, const void* timeout, int* at2, int value3) {
  return syscall(SYS_futex, at, op, value, timeout, at2, value3);
}

static long wait_any(struct futex_waitv* list, unsigned count, struct timespec* until) {
  return syscall(SYS_futex_waitv, list, count, 0, until, CLOCK_MONOTONIC);
}

static void* wake_second(void* none) {
  (void)none;
  usleep(1000);
  while (futex(&second, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0) != 1) usleep(1000);
  return NULL;
}

static void any_of_two(void) {
  struct futex_waitv list[2] = {{.uaddr = (uintptr_t)&first, .flags = FUTEX_32 | FUTEX_PRIVATE_FLAG},
                                {.uaddr = (uintptr_t)&second, .flags = FUTEX_32 | FUTEX_PRIVATE_FLAG}};
  struct timespec past = {0, 0};
  FAILS(wait_any(list, 2, &past), ETIMEDOUT);
  FAILS(wait_any(list, 0, NULL), EINVAL);
  list[1].val = 7;
  FAILS(wait_any(list, 2, NULL), EAGAIN);
  list[1].val = 0;
  pthread_t waker;
  pthread_create(&waker, NULL, wake_second, NULL);
  CHECK(wait_any(list, 2, NULL) == 1);
  pthread_join(waker, NULL);
}

static void* wait_for_lock(void* none) {
  (void)none;
  __atomic_add_fetch(&started, 1, __ATOMIC_SEQ_CST);
  CHECK(futex(&first, FUTEX_WAIT_REQUEUE_PI, 0, NULL, &lock, 0) == 0);
  CHECK((lock & FUTEX_TID_MASK) == gettid());
  usleep(500);
  CHECK(futex(&lock, FUTEX_UNLOCK_PI, 0, NULL, NULL, 0) == 0);
  return NULL;
}

static void requeued_to_lock(void) {
  pthread_t waiters[3];
  for (int i = 0; i < 3; i++) pthread_create(&waiters[i], NULL, wait_for_lock, NULL);
  while (__atomic_load_n(&started, __ATOMIC_SEQ_CST) < 3) usleep(1000);
  FAILS(futex(&first, FUTEX_CMP_REQUEUE_PI, 1, (void*)2, &lock, 5), EAGAIN);
  FAILS(futex(&first, FUTEX_CMP_REQUEUE_PI, 2, (void*)2, &lock, 0), EINVAL);
  for (long moved = 0; moved < 3;) {
    const long n = futex(&first, FUTEX_CMP_REQUEUE_PI, 1, (void*)2, &lock, 0);
    CHECK(n >= 0);
    moved += n;
    usleep(1000);
  }
  for (int i = 0; i < 3; i++) pthread_join(waiters[i], NULL);
  CHECK(lock == 0);
}

int main(void) {
  const struct timespec bad = {0, 2000000000};
  FAILS(futex(&first, FUTEX_WAIT, 0, &bad, NULL, 0), EINVAL);
  any_of_two();
  requeued_to_lock();
  puts("futexes agree");
  return 0;
}
