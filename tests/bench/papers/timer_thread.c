/* Timer thread that is told to end before it waits.
 *
 * Bug: the timer thread looks at `ending` and waits for the condition in two critical sections.
 * Shown by: shut_down() sets the flag and signals in between; the signal is lost.
 * Idea: TimerThread, a deadlock among the Mozilla extracts of the HaPSet paper; the code is ours.
 * Expected: deadlock: the timer thread waits forever, the main thread joins it.
 */
#include <pthread.h>
#include <stdio.h>

#include "unrelated.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ending, rounds;

static int is_ending(void) {
  pthread_mutex_lock(&lock);
  int now = ending;
  pthread_mutex_unlock(&lock);
  return now;
}

static void* timer_thread(void* arg) {
  (void)arg;
  unrelated_work();
  while (!is_ending()) {
    pthread_mutex_lock(&lock);
    pthread_cond_wait(&changed, &lock); /* bug: the signal may have come already */
    rounds++;
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

static void shut_down(void) {
  pthread_mutex_lock(&lock);
  ending = 1;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&lock);
}

int main(void) {
  pthread_t t;
  pthread_create(&t, NULL, timer_thread, NULL);
  unrelated_work();
  shut_down();
  pthread_join(t, NULL);
  printf("%d rounds\n", rounds);
  return 0;
}
