/* Workers that come too early poll for something that nobody does, and yield between two looks.
 *
 * Bug: whoever sees that the start is not made waits for a second signal that does not exist.
 * Shown by: a worker runs before the thread that makes the start.
 * Idea: start-up barriers written by hand. Each turn of the loop is a system call, so the run is long.
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
