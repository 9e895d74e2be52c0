/* Bounded pipe whose two sides wait on one condition variable and wake one thread only.
 *
 * Bug: `signal` where `broadcast` is needed: the signal meant for a producer can wake another consumer.
 * Shown by: both consumers wait, and a take's signal wakes the other consumer while producers wait for room.
 * Idea: Piper of the RankChecker paper.
 * Expected: deadlock: all threads wait on the condition variable.
 * Arguments: producers and consumers (2 each), items each (1).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int full, passed;
static int items = 1;

static void* producer(void* arg) {
  (void)arg;
  for (int i = 0; i < items; i++) {
    pthread_mutex_lock(&lock);
    while (full) pthread_cond_wait(&changed, &lock);
    full = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

static void* consumer(void* arg) {
  (void)arg;
  for (int i = 0; i < items; i++) {
    pthread_mutex_lock(&lock);
    while (!full) pthread_cond_wait(&changed, &lock);
    full = 0;
    passed++;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int pairs = argc > 1 ? atoi(argv[1]) : 2;
  if (argc > 2) items = atoi(argv[2]);
  pthread_t* ids = calloc((size_t)pairs * 2, sizeof *ids);
  for (int i = 0; i < pairs; i++) {
    pthread_create(&ids[2 * i], NULL, producer, NULL);
    pthread_create(&ids[2 * i + 1], NULL, consumer, NULL);
  }
  for (int i = 0; i < 2 * pairs; i++) pthread_join(ids[i], NULL);
  free(ids);
  printf("passed %d items\n", passed);
  return 0;
}
