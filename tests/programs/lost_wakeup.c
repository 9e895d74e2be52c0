/* Consumer whose wake-up can come before it waits.
 *
 * Bug: the consumer checks for work before it locks, and waits without checking again.
 * Shown by: the producer signals between the consumer's check and its wait. One preemption.
 * Idea: ours; like lost_notify, but with the wait in the run that passes.
 * Expected: deadlock: the consumer sleeps, and no thread is left to signal.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static atomic_int work;

static void* consumer(void* arg) {
  (void)arg;
  if (!work) {
    pthread_mutex_lock(&lock);
    pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

static void* producer(void* arg) {
  (void)arg;
  work = 1;
  pthread_mutex_lock(&lock);
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
