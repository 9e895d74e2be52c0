/* Correct twin of bounded_buffer_if: both sides wait in a loop.
 * Expected: passes under every schedule. Arguments: consumers (2), items per consumer (1).
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { kCapacity = 4 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER;
static int count, taken;
static int per_consumer = 1;

static void put(void) {
  pthread_mutex_lock(&lock);
  while (count == kCapacity) pthread_cond_wait(&not_full, &lock);
  count++;
  pthread_cond_signal(&not_empty);
  pthread_mutex_unlock(&lock);
}

static void take(void) {
  pthread_mutex_lock(&lock);
  while (count == 0) pthread_cond_wait(&not_empty, &lock);
  assert(count > 0 && "took from an empty buffer");
  count--;
  taken++;
  pthread_cond_signal(&not_full);
  pthread_mutex_unlock(&lock);
}

static void* consumer(void* arg) {
  (void)arg;
  for (int i = 0; i < per_consumer; i++) take();
  return NULL;
}

int main(int argc, char** argv) {
  int consumers = argc > 1 ? atoi(argv[1]) : 2;
  if (argc > 2) per_consumer = atoi(argv[2]);
  pthread_t* ids = calloc((size_t)consumers, sizeof *ids);
  for (int i = 0; i < consumers; i++) pthread_create(&ids[i], NULL, consumer, NULL);
  for (int i = 0; i < consumers * per_consumer; i++) put();
  for (int i = 0; i < consumers; i++) pthread_join(ids[i], NULL);
  free(ids);
  assert(count == 0);
  printf("taken %d left %d\n", taken, count);
  return 0;
}
