/* Counter that is written under a lock taken for reading.
 *
 * Bug: increment() takes the read-write lock in shared mode.
 * Shown by: two threads are inside at once and one increment is lost. One preemption.
 * Idea: ours, after the lock misuse category of bug studies.
 * Expected: assertion on the final count (SIGABRT).
 * Arguments: threads (2), increments per thread (1).
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static volatile int count;
static int increments = 1;

static void* counter(void* arg) {
  (void)arg;
  for (int i = 0; i < increments; i++) {
    pthread_rwlock_rdlock(&lock);
    count = count + 1;
    pthread_rwlock_unlock(&lock);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int threads = argc > 1 ? atoi(argv[1]) : 2;
  if (argc > 2) increments = atoi(argv[2]);
  pthread_t* ids = calloc((size_t)threads, sizeof *ids);
  for (int i = 0; i < threads; i++) pthread_create(&ids[i], NULL, counter, NULL);
  for (int i = 0; i < threads; i++) pthread_join(ids[i], NULL);
  free(ids);
  assert(count == threads * increments && "an increment was lost");
  printf("count %d\n", count);
  return 0;
}
