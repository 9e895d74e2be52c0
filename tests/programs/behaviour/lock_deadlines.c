/* Deadlines that locks, conditions and semaphores refuse: a clock that none can wait by, and nanoseconds out of range.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <time.h>
#include "check.h"

static const struct timespec past = {1, 0}, wrong = {1, -1};
static const clockid_t no_clock = 77;

static void* locks_mutex(void* mutex) {
  CHECK(pthread_mutex_timedlock(mutex, &wrong) == EINVAL);
  CHECK(pthread_mutex_timedlock(mutex, &past) == ETIMEDOUT);
  CHECK(pthread_mutex_clocklock(mutex, no_clock, &past) == EINVAL);
  return NULL;
}

int main(void) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
  pthread_t thread;
  sem_t semaphore;
  CHECK(pthread_mutex_lock(&mutex) == 0);
  CHECK(pthread_create(&thread, NULL, locks_mutex, &mutex) == 0 && pthread_join(thread, NULL) == 0);
  CHECK(pthread_cond_timedwait(&condition, &mutex, &wrong) == EINVAL);
  CHECK(pthread_cond_clockwait(&condition, &mutex, no_clock, &past) == EINVAL);
  CHECK(pthread_cond_clockwait(&condition, &mutex, CLOCK_REALTIME, &past) == ETIMEDOUT);
  CHECK(pthread_mutex_unlock(&mutex) == 0);
  CHECK(pthread_rwlock_timedrdlock(&rwlock, &wrong) == EINVAL);
  CHECK(pthread_rwlock_clockwrlock(&rwlock, no_clock, &past) == EINVAL);
  CHECK(pthread_rwlock_wrlock(&rwlock) == 0);
  CHECK(sem_init(&semaphore, 0, 1) == 0);
  FAILS(sem_timedwait(&semaphore, &wrong), EINVAL);
  FAILS(sem_clockwait(&semaphore, no_clock, &past), EINVAL);
  CHECK(sem_trywait(&semaphore) == 0);
  puts("refused");
  return 0;
}
