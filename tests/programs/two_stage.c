/* Two values that are set under two locks, one after the other.
 *
 * Bug: a reader can see the first stage done and the second not.
 * Shown by: the reader runs between the writer's two locked sections. One preemption.
 * Idea: the two-stage locking subject of the systematic concurrency testing benchmarks.
 * Expected: assertion in reader() (SIGABRT).
 * Arguments: writers (1), readers (1).
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t first_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t second_lock = PTHREAD_MUTEX_INITIALIZER;
static int first, second;

static void* writer(void* arg) {
  (void)arg;
  pthread_mutex_lock(&first_lock);
  first = 1;
  pthread_mutex_unlock(&first_lock);

  pthread_mutex_lock(&second_lock);
  second = 2;
  pthread_mutex_unlock(&second_lock);
  return NULL;
}

static void* reader(void* arg) {
  (void)arg;
  pthread_mutex_lock(&first_lock);
  int seen = first;
  pthread_mutex_unlock(&first_lock);
  if (seen == 0) return NULL;

  pthread_mutex_lock(&second_lock);
  assert(second == seen + 1 && "the second stage is missing");
  pthread_mutex_unlock(&second_lock);
  return NULL;
}

int main(int argc, char** argv) {
  int writers = argc > 1 ? atoi(argv[1]) : 1;
  int readers = argc > 2 ? atoi(argv[2]) : 1;
  pthread_t* ids = calloc((size_t)(writers + readers), sizeof *ids);
  for (int i = 0; i < writers; i++) pthread_create(&ids[i], NULL, writer, NULL);
  for (int i = 0; i < readers; i++) pthread_create(&ids[writers + i], NULL, reader, NULL);
  for (int i = 0; i < writers + readers; i++) pthread_join(ids[i], NULL);
  free(ids);
  printf("first %d second %d\n", first, second);
  return 0;
}
