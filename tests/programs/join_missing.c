/* Main thread that does not wait for its worker.
 *
 * Bug: main waits until the worker has started, not until it is done, and returns. An exit handler frees the log.
 * Shown by: main continues between the worker's start and its last line. One preemption.
 * Idea: ours, after the crashes at exit of programs with background threads.
 * Expected: memory error (write to a freed block), or the line is lost.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

struct log {
  volatile int lines;
};

static sem_t started;
static struct log* open_log;

static void close_log(void) { free(open_log); }

static void* worker(void* arg) {
  struct log* mine = arg;
  sem_post(&started);
  mine->lines = 1;
  return NULL;
}

int main(void) {
  pthread_t w;
  sem_init(&started, 0, 0);
  open_log = calloc(1, sizeof *open_log);
  atexit(close_log);
  pthread_create(&w, NULL, worker, open_log);
  sem_wait(&started);
  return 0;
}
