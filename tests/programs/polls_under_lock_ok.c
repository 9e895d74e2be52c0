/* A thread polls under a lock that the thread it waits for needs.
 *
 * Correct: between two polls the lock is free, and any fair scheduler gives it to the other thread at some time. A
 * scheduler that always stops the poller while it holds the lock never does.
 * Idea: completion flags that are polled rather than waited for.
 */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int done;
static volatile int work;

static void* poller(void* arg) {
  (void)arg;
  for (int seen = 0; !seen;) {
    pthread_mutex_lock(&mutex);
    work++;
    seen = done;
    pthread_mutex_unlock(&mutex);
  }
  return NULL;
}

static void* setter(void* arg) {
  (void)arg;
  pthread_mutex_lock(&mutex);
  done = 1;
  pthread_mutex_unlock(&mutex);
  return NULL;
}

int main(void) {
  pthread_t p, s;
  pthread_create(&s, NULL, setter, NULL);
  pthread_create(&p, NULL, poller, NULL);
  pthread_join(s, NULL);
  pthread_join(p, NULL);
  printf("the poller saw it\n");
  return 0;
}
