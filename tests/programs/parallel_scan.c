/* Parallel file scanner that does not tell all of its workers that the input has ended.
 *
 * Bug: the end of the input is announced with a signal to one worker, where all of them may wait.
 * Shown by: both workers find the queue empty and wait before the end is announced.
 * Idea: after pfscan in the HaPSet and ColFinder papers (an order violation that ends in a hang).
 * Expected: deadlock: a worker waits forever and the main thread joins it.
 * Arguments: workers (2), files (2).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int queued, end_of_input, scanned;

static void* worker(void* arg) {
  (void)arg;
  for (;;) {
    pthread_mutex_lock(&lock);
    while (queued == 0 && !end_of_input) pthread_cond_wait(&changed, &lock);
    if (queued == 0) {
      pthread_mutex_unlock(&lock);
      return NULL;
    }
    queued--;
    scanned++;
    pthread_mutex_unlock(&lock);
  }
}

int main(int argc, char** argv) {
  int workers = argc > 1 ? atoi(argv[1]) : 2;
  int files = argc > 2 ? atoi(argv[2]) : 2;
  pthread_t* ids = calloc((size_t)workers, sizeof *ids);
  queued = files;
  for (int i = 0; i < workers; i++) pthread_create(&ids[i], NULL, worker, NULL);
  pthread_mutex_lock(&lock);
  end_of_input = 1;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&lock);
  for (int i = 0; i < workers; i++) pthread_join(ids[i], NULL);
  free(ids);
  printf("scanned %d\n", scanned);
  return 0;
}
