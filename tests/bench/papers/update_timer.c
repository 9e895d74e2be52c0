/* Timer that is released by whoever comes first.
 *
 * Bug: update_timer() checks that there is a timer and uses it without a lock.
 * Shown by: the other thread cancels the timer between the check and the use.
 * Idea: UpdateTimer, an atomicity violation among the Mozilla extracts of the HaPSet paper; the code is ours.
 * Expected: null pointer dereference (SIGSEGV).
 */
#include <pthread.h>
#include <stdio.h>

#include "unrelated.h"

struct timer {
  int delay;
};

static struct timer the_timer = {10};
static struct timer* volatile timer = &the_timer;
static int delay;

static void* update_timer(void* arg) {
  (void)arg;
  unrelated_work();
  if (timer != NULL) delay = timer->delay; /* bug: the timer may be cancelled in between */
  unrelated_work();
  return NULL;
}

static void* cancel(void* arg) {
  (void)arg;
  unrelated_work();
  timer = NULL;
  return NULL;
}

int main(void) {
  pthread_t u, c;
  pthread_create(&u, NULL, update_timer, NULL);
  pthread_create(&c, NULL, cancel, NULL);
  pthread_join(u, NULL);
  pthread_join(c, NULL);
  printf("delay %d\n", delay);
  return 0;
}
