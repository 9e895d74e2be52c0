/* Workers that come too early poll for a flag that no thread sets, and yield between two polls.
 *
 * Bug: a worker that finds the start flag unset waits for a second flag, which is never set.
 * Shown by: a worker runs before the thread that sets the start flag.
 * Idea: hand-written start-up barriers. Each turn of the loop is a system call, so the run is long.
 * Expected: hang: the worker never ends.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int started, again;

static void* starter(void* arg) {
  (void)arg;
  atomic_store(&started, 1);
  return NULL;
}

static void* worker(void* arg) {
  (void)arg;
  if (!atomic_load(&started)) do
      sched_yield();
    while (!atomic_load(&again));
  return NULL;
}

int main(void) {
  pthread_t s, w[2];
  pthread_create(&s, NULL, starter, NULL);
  for (int i = 0; i < 2; i++) pthread_create(&w[i], NULL, worker, NULL);
  pthread_join(s, NULL);
  for (int i = 0; i < 2; i++) pthread_join(w[i], NULL);
  printf("all went on\n");
  return 0;
}
