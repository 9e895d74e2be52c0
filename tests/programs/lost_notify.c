/* A wait whose notification can come too early.
 *
 * Bug: the waiter checks the flag without holding the lock, and waits without checking again.
 * Shown by: the flag is set and the signal sent between the waiter's check and its wait. One preemption.
 * Idea: the missed-notification extracts of the HaPSet paper.
 * Expected: deadlock: the waiter sleeps, the main thread joins it, no thread is left to signal.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static atomic_int ready;

static void* waiter(void* arg) {
  (void)arg;
  if (!ready) {
    pthread_mutex_lock(&lock);
    pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

int main(void) {
  pthread_t w;
  pthread_create(&w, NULL, waiter, NULL);
  ready = 1;
  pthread_mutex_lock(&lock);
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&lock);
  pthread_join(w, NULL);
  printf("ready %d\n", ready);
  return 0;
}
