/* Correct twin of reader_writer: writers take the lock exclusively, readers share it.
 * Expected: passes under every schedule. Arguments: threads (2), increments per thread (1).
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int count, twice;
static int increments = 1;

static void* counter(void* arg) {
  (void)arg;
  for (int i = 0; i < increments; i++) {
    pthread_rwlock_wrlock(&lock);
    count = count + 1;
    twice = twice + 2;
    pthread_rwlock_unlock(&lock);
    pthread_rwlock_rdlock(&lock);
    assert(twice == 2 * count);
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
