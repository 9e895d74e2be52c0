/* Consumers that drain a queue until it is empty.
 *
 * Bug: the test for an item is outside of the lock under which the item is taken.
 * Shown by: both consumers see the last item. One preemption.
 * Idea: ProducerConsumer of the RankChecker paper, which finds it in the first schedule.
 * Expected: assertion in take() (SIGABRT).
 * Arguments: consumers (2), items (2).
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int count;
static int taken;

static void take(void) {
  pthread_mutex_lock(&lock);
  assert(count > 0 && "took from an empty queue");
  count--;
  taken++;
  pthread_mutex_unlock(&lock);
}

static void* consumer(void* arg) {
  (void)arg;
  while (count > 0) take();
  return NULL;
}

int main(int argc, char** argv) {
  int consumers = argc > 1 ? atoi(argv[1]) : 2;
  int items = argc > 2 ? atoi(argv[2]) : 2;
  count = items;
  pthread_t* ids = calloc((size_t)consumers, sizeof *ids);
  for (int i = 0; i < consumers; i++) pthread_create(&ids[i], NULL, consumer, NULL);
  for (int i = 0; i < consumers; i++) pthread_join(ids[i], NULL);
  free(ids);
  printf("taken %d\n", taken);
  return 0;
}
