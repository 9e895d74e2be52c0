/* Details of the C library's locks: sem_wait is a cancellation point even if it does not wait. A signal handler does
   not end the wait for a condition, and the mutex of that wait stays in use. A lock that prefers writers lets no
   reader pass a waiting writer. */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <time.h>
#include "check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
static sem_t semaphore;
static int waits, handled, writer_ended;

static struct timespec in_milliseconds(long more) {
  struct timespec at;
  clock_gettime(CLOCK_REALTIME, &at);
  at.tv_nsec += more * 1000000;
  at.tv_sec += at.tv_nsec / 1000000000;
  at.tv_nsec %= 1000000000;
  return at;
}

static void* taker(void* timed) {
  struct timespec until = in_milliseconds(10000);
  CHECK(pthread_cancel(pthread_self()) == 0);
  if (timed != NULL)
    sem_timedwait(&semaphore, &until);
  else
    sem_wait(&semaphore);
  return NULL;
}

static void* waiter(void* arg) {
  (void)arg;
  pthread_mutex_lock(&mutex);
  waits = 1;
  CHECK(pthread_cond_wait(&changed, &mutex) == 0 && waits == 2);
  pthread_mutex_unlock(&mutex);
  return NULL;
}

static void note(int number, siginfo_t* info, void* context) {
  (void)number, (void)info, (void)context;
  __atomic_fetch_add(&handled, 1, __ATOMIC_SEQ_CST);
}

static void* writer(void* arg) {
  struct timespec until = in_milliseconds(300);
  (void)arg;
  CHECK(pthread_rwlock_timedwrlock(&rwlock, &until) == ETIMEDOUT);
  __atomic_store_n(&writer_ended, 1, __ATOMIC_SEQ_CST);
  return NULL;
}

static void* reader(void* arg) {
  (void)arg;
  CHECK(pthread_rwlock_rdlock(&rwlock) == 0 && pthread_rwlock_unlock(&rwlock) == 0);
  return NULL;
}

static void semaphores_cancel(void) {
  for (long timed = 0; timed < 2; timed++) {
    pthread_t thread;
    void* result;
    int value;
    CHECK(sem_init(&semaphore, 0, 1) == 0);
    CHECK(pthread_create(&thread, NULL, taker, (void*)timed) == 0 && pthread_join(thread, &result) == 0);
    CHECK(result == PTHREAD_CANCELED && sem_getvalue(&semaphore, &value) == 0 && value == 1);
  }
}

static void conditions_wait_on(void) {
  pthread_t thread;
  on_signal(SIGUSR1, note, SA_RESTART);
  CHECK(pthread_create(&thread, NULL, waiter, NULL) == 0);
  for (int begun = 0; !begun; usleep(1000)) {
    pthread_mutex_lock(&mutex);
    begun = waits;
    pthread_mutex_unlock(&mutex);
  }
  CHECK(pthread_mutex_destroy(&mutex) == EBUSY);
  for (int i = 1; i <= 20; i++) {
    CHECK(pthread_kill(thread, SIGUSR1) == 0);
    while (__atomic_load_n(&handled, __ATOMIC_SEQ_CST) < i) usleep(1000);
  }
  pthread_mutex_lock(&mutex);
  waits = 2;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&mutex);
  CHECK(pthread_join(thread, NULL) == 0 && pthread_mutex_destroy(&mutex) == 0);
}

/* False if the waiting writer gave up before a reader tried to pass it, as on a busy machine. */
static int is_refused_beside(pthread_t* waiting) {
  int refused = 0;
  __atomic_store_n(&writer_ended, 0, __ATOMIC_SEQ_CST);
  CHECK(pthread_create(waiting, NULL, writer, NULL) == 0);
  while (!refused && !__atomic_load_n(&writer_ended, __ATOMIC_SEQ_CST)) {
    usleep(1000);
    refused = pthread_rwlock_tryrdlock(&rwlock) != 0;
    CHECK(refused || pthread_rwlock_unlock(&rwlock) == 0);
  }
  return refused;
}

static void writers_come_first(void) {
  pthread_t waiting, reading;
  int tries = 0;
  CHECK(pthread_rwlock_rdlock(&rwlock) == 0);
  while (!is_refused_beside(&waiting)) CHECK(pthread_join(waiting, NULL) == 0 && tries++ < 50);
  CHECK(pthread_create(&reading, NULL, reader, NULL) == 0);
  CHECK(pthread_join(waiting, NULL) == 0 && pthread_join(reading, NULL) == 0);
  CHECK(pthread_rwlock_tryrdlock(&rwlock) == 0 && pthread_rwlock_unlock(&rwlock) == 0);
  CHECK(pthread_rwlock_unlock(&rwlock) == 0);
}

int main(void) {
  semaphores_cancel();
  conditions_wait_on();
  writers_come_first();
  puts("as they should");
  return 0;
}
