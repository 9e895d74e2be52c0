// The watchdog restarts a worker that shows no progress for a while. It compares times that it took before and after a
// nap, and forgets that the nap may be long: a healthy worker's progress is older than the limit.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int64_t progress;  // when the worker was last seen alive, in milliseconds
static int done, restarted;

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static void* work(void* arg) {
  (void)arg;
  for (int i = 0; i < 3; i++) {
    pthread_mutex_lock(&lock);
    progress = now();
    pthread_mutex_unlock(&lock);
    usleep(10 * 1000);
  }
  pthread_mutex_lock(&lock);
  done = 1;
  pthread_mutex_unlock(&lock);
  return NULL;
}

int main(void) {
  pthread_t worker;
  progress = now();
  pthread_create(&worker, NULL, work, NULL);
  for (int stop = 0; !stop;) {
    usleep(50 * 1000);
    pthread_mutex_lock(&lock);
    if (!done && now() - progress > 40) restarted++;
    stop = done || restarted;
    pthread_mutex_unlock(&lock);
  }
  pthread_join(worker, NULL);
  printf("restarted %d times\n", restarted);
  return restarted != 0;
}
