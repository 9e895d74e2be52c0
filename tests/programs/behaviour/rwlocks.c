/* Read-write locks: readers together, writers alone, try and timed variants. */
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int value;

static void* reader(void* arg) {
  for (int i = 0; i < 3; i++) {
    pthread_rwlock_rdlock(&lock);
    printf("reader %ld sees %d\n", (long)arg, value);
    pthread_rwlock_unlock(&lock);
  }
  return NULL;
}

static void* writer(void* arg) {
  for (int i = 0; i < 3; i++) {
    pthread_rwlock_wrlock(&lock);
    value = value * 3 + (int)(long)arg;
    pthread_rwlock_unlock(&lock);
  }
  return NULL;
}

static void* prober(void* arg) {
  struct timespec until;
  (void)arg;
  clock_gettime(CLOCK_REALTIME, &until);
  printf("tryrdlock %d trywrlock %d timedwrlock %d\n", pthread_rwlock_tryrdlock(&lock), pthread_rwlock_trywrlock(&lock),
         pthread_rwlock_timedwrlock(&lock, &until));
  return NULL;
}

int main(void) {
  pthread_t ids[4];
  for (long i = 0; i < 4; i++) pthread_create(&ids[i], NULL, i % 2 ? writer : reader, (void*)i);
  for (int i = 0; i < 4; i++) pthread_join(ids[i], NULL);
  pthread_rwlock_wrlock(&lock);
  pthread_create(&ids[0], NULL, prober, NULL);
  pthread_join(ids[0], NULL);
  pthread_rwlock_unlock(&lock);
  printf("value %d\n", value);
  return 0;
}
