/* Correct twin of lost_wakeup: work is set and checked under the lock, in a loop around the wait.
 * Expected: passes under every schedule.
 */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int work;

static void* consumer(void* arg) {
  (void)arg;
  pthread_mutex_lock(&lock);
  while (!work) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
  return NULL;
}

static void* producer(void* arg) {
  (void)arg;
  pthread_mutex_lock(&lock);
  work = 1;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&lock);
  return NULL;
}

int main(void) {
  pthread_t c, p;
  pthread_create(&c, NULL, consumer, NULL);
  pthread_create(&p, NULL, producer, NULL);
  pthread_join(c, NULL);
  pthread_join(p, NULL);
  printf("work %d\n", work);
  return 0;
}
