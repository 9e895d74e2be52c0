/* Correct twin of join_missing: main joins the worker.
 * Expected: passes under every schedule.
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
  pthread_join(w, NULL);
  return 0;
}
