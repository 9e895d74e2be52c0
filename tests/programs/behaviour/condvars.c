/* Condition variables: signal, broadcast, and a timed wait that times out. */
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int tickets, open_to_all;

static void* waiter(void* arg) {
  pthread_mutex_lock(&lock);
  while (tickets == 0 && !open_to_all) pthread_cond_wait(&changed, &lock);
  if (tickets > 0) tickets--;
  printf("waiter %ld is let in\n", (long)arg);
  pthread_mutex_unlock(&lock);
  return NULL;
}

int main(void) {
  enum { kWaiters = 4 };
  pthread_t ids[kWaiters];
  struct timespec until;
  for (long i = 0; i < kWaiters; i++) pthread_create(&ids[i], NULL, waiter, (void*)i);
  pthread_mutex_lock(&lock);
  tickets = 1;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&lock);
  pthread_mutex_lock(&lock);
  open_to_all = 1;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
  for (int i = 0; i < kWaiters; i++) pthread_join(ids[i], NULL);

  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec = (until.tv_nsec + 3000000) % 1000000000;
  if (until.tv_nsec < 3000000) until.tv_sec++;
  pthread_mutex_lock(&lock);
  int result = 0;
  while (result == 0) result = pthread_cond_timedwait(&changed, &lock, &until);
  pthread_mutex_unlock(&lock);
  printf("timed wait %d\n", result);
  return 0;
}
