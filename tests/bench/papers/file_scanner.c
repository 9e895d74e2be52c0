/* File scanner whose count of active workers is set after the workers have started.
 *
 * Bug: main() stores the number of workers when it has started all of them.
 * Shown by: a worker ends before the store, which then overwrites that worker's decrement.
 * Idea: the order violation on `aworkers` that the authors put into pfscan, in the HaPSet paper; the code is ours.
 * Expected: deadlock: the main thread waits for a worker that has ended. Arguments: workers (2), files (3).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { kMost = 16 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all_ended = PTHREAD_COND_INITIALIZER;
static int active_workers, files = 3, scanned;

static void* worker(void* arg) {
  (void)arg;
  pthread_mutex_lock(&lock);
  while (files > 0) {
    files--;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    scanned++;
  }
  active_workers--;
  if (active_workers == 0) pthread_cond_signal(&all_ended);
  pthread_mutex_unlock(&lock);
  return NULL;
}

int main(int argc, char** argv) {
  int workers = argc > 1 ? atoi(argv[1]) : 2;
  if (argc > 2) files = atoi(argv[2]);
  pthread_t ids[kMost];
  for (int i = 0; i < workers; i++) pthread_create(&ids[i], NULL, worker, NULL);
  pthread_mutex_lock(&lock);
  active_workers = workers; /* bug: workers may have ended before */
  while (active_workers != 0) pthread_cond_wait(&all_ended, &lock);
  pthread_mutex_unlock(&lock);
  for (int i = 0; i < workers; i++) pthread_join(ids[i], NULL);
  printf("%d files\n", scanned);
  return 0;
}
