/* A failure that shows only after the run has logged megabytes.
 *
 * Bug: the reader assumes that the writer has run before it reads.
 * Shown by: the reader reads before the writer's store, and works for a while before it acts on the value.
 * Idea: failing runs of long tests; most of the log comes after the cause.
 * Expected: killed by signal (assertion).
 */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

static atomic_int ready;

static void* writer(void* arg) {
  (void)arg;
  atomic_store(&ready, 1);
  return NULL;
}

static void* reader(void* arg) {
  (void)arg;
  const int seen = atomic_load(&ready);
  for (int i = 0; i < 20000; i++) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    sched_yield();
  }
  assert(seen);
  return NULL;
}

int main(void) {
  pthread_t w, r;
  pthread_create(&w, NULL, writer, NULL);
  pthread_create(&r, NULL, reader, NULL);
  pthread_join(w, NULL);
  pthread_join(r, NULL);
  printf("the reader saw the writer\n");
  return 0;
}
