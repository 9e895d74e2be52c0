/* Thread pool with one lock for its tasks and one for its workers.
 *
 * Bug: a worker that starts locks the workers and then the tasks; add() locks the tasks and then the workers.
 * Shown by: a worker starts while the main thread adds a task, and each has one of the locks.
 * Idea: the deadlock in the concurrency library of thrift in the HaPSet paper; the code is ours.
 * Expected: deadlock. Arguments: workers (2), tasks (5).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { kMost = 16 };

static pthread_mutex_t tasks_lock = PTHREAD_MUTEX_INITIALIZER, workers_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t task_added = PTHREAD_COND_INITIALIZER, worker_started = PTHREAD_COND_INITIALIZER;
static int queued, idle, stopping, done;
static int started, most_workers, most_queued;

static void worker_starts(void) {
  pthread_mutex_lock(&workers_lock);
  started++;
  pthread_mutex_lock(&tasks_lock); /* bug: add() takes the two locks in the other order */
  idle++;
  pthread_mutex_unlock(&tasks_lock);
  pthread_cond_signal(&worker_started);
  pthread_mutex_unlock(&workers_lock);
}

static void* worker(void* arg) {
  (void)arg;
  worker_starts();
  pthread_mutex_lock(&tasks_lock);
  for (;;) {
    while (queued == 0 && !stopping) pthread_cond_wait(&task_added, &tasks_lock);
    if (queued == 0) break;
    queued--;
    idle--;
    pthread_mutex_unlock(&tasks_lock);
    pthread_mutex_lock(&tasks_lock);
    done++;
    idle++;
  }
  pthread_mutex_unlock(&tasks_lock);
  return NULL;
}

static void add(void) {
  pthread_mutex_lock(&tasks_lock);
  queued++;
  if (idle == 0) {
    pthread_mutex_lock(&workers_lock);
    if (queued > most_queued * started) most_queued++;
    pthread_mutex_unlock(&workers_lock);
  }
  pthread_cond_signal(&task_added);
  pthread_mutex_unlock(&tasks_lock);
}

static void stop(void) {
  pthread_mutex_lock(&workers_lock);
  while (started < most_workers) pthread_cond_wait(&worker_started, &workers_lock);
  pthread_mutex_unlock(&workers_lock);
  pthread_mutex_lock(&tasks_lock);
  stopping = 1;
  pthread_cond_broadcast(&task_added);
  pthread_mutex_unlock(&tasks_lock);
}

int main(int argc, char** argv) {
  most_workers = argc > 1 ? atoi(argv[1]) : 2;
  int tasks = argc > 2 ? atoi(argv[2]) : 5;
  pthread_t ids[kMost];
  for (int i = 0; i < most_workers; i++) pthread_create(&ids[i], NULL, worker, NULL);
  for (int i = 0; i < tasks; i++) add();
  stop();
  for (int i = 0; i < most_workers; i++) pthread_join(ids[i], NULL);
  printf("%d tasks done\n", done);
  return 0;
}
