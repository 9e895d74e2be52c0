/* Locks with priority inheritance: robust ones whose owner dies, and the errors of the calls below them. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include "check.h"

static pthread_mutex_t mutex;

static void* dies_with_it(void* unused) {
  CHECK(pthread_mutex_lock(&mutex) == 0);
  return unused;
}

static void lose_owner(void) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, dies_with_it, NULL) == 0 && pthread_join(thread, NULL) == 0);
}

static void is_robust(void) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  CHECK(pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT) == 0);
  CHECK(pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST) == 0);
  CHECK(pthread_mutex_init(&mutex, &attributes) == 0);
  lose_owner();
  CHECK(pthread_mutex_lock(&mutex) == EOWNERDEAD);
  CHECK(pthread_mutex_consistent(&mutex) == 0 && pthread_mutex_unlock(&mutex) == 0);
  lose_owner();
  CHECK(pthread_mutex_lock(&mutex) == EOWNERDEAD && pthread_mutex_unlock(&mutex) == 0);
  CHECK(pthread_mutex_lock(&mutex) == ENOTRECOVERABLE);
}

static long futex(unsigned* word, int operation) { return syscall(SYS_futex, word, operation, 0, NULL); }

static unsigned left_word;
static volatile int taken;

static void* ends_with_it(void* unused) {
  CHECK(futex(&left_word, FUTEX_LOCK_PI) == 0);
  taken = 1;
  while ((*(volatile unsigned*)&left_word & FUTEX_WAITERS) == 0) usleep(200);
  return unused;
}

/* A waiting thread gets the lock of an owner that ends, even if the lock is on no robust list. */
static void is_left(void) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, ends_with_it, NULL) == 0);
  while (!taken) usleep(200);
  CHECK(futex(&left_word, FUTEX_LOCK_PI) == 0);
  CHECK(left_word == ((unsigned)syscall(SYS_gettid) | FUTEX_WAITERS | FUTEX_OWNER_DIED));
  CHECK(pthread_join(thread, NULL) == 0);
}

int main(void) {
  unsigned word = 0;
  is_robust();
  is_left();
  CHECK(futex(&word, FUTEX_LOCK_PI) == 0 && (pid_t)word == (pid_t)syscall(SYS_gettid));
  FAILS(futex(&word, FUTEX_LOCK_PI), EDEADLK);
  FAILS(futex(&word, FUTEX_TRYLOCK_PI), EDEADLK);
  CHECK(futex(&word, FUTEX_UNLOCK_PI) == 0 && word == 0);
  FAILS(futex(&word, FUTEX_UNLOCK_PI), EPERM);
  word = 0x3fffff; /* no thread has this id */
  FAILS(futex(&word, FUTEX_LOCK_PI), ESRCH);
  CHECK(word == (0x3fffff | FUTEX_WAITERS));
  FAILS(futex(&word, FUTEX_TRYLOCK_PI), ESRCH);
  puts("errors");
  return 0;
}
