// The client gives up waiting and frees the request to which the server is about to write its answer. Only a time-out
// before the answer shows the bug.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct request {
  int answer;
  int done;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct request* pending;

static void* serve(void* arg) {
  (void)arg;
  pthread_mutex_lock(&lock);
  while (pending == NULL) pthread_cond_wait(&changed, &lock);
  struct request* request = pending;
  pthread_mutex_unlock(&lock);
  const int answer = 42;  // long work, without the lock
  pthread_mutex_lock(&lock);
  request->answer = answer;
  request->done = 1;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
  return NULL;
}

int main(void) {
  pthread_t server;
  pthread_create(&server, NULL, serve, NULL);
  struct request* request = calloc(1, sizeof *request);
  struct timespec limit;
  clock_gettime(CLOCK_REALTIME, &limit);
  limit.tv_sec += 3600;
  pthread_mutex_lock(&lock);
  pending = request;
  pthread_cond_broadcast(&changed);
  int late = 0;
  while (!request->done && late == 0) late = pthread_cond_timedwait(&changed, &lock, &limit);
  if (!late) printf("answer %d\n", request->answer);
  pthread_mutex_unlock(&lock);
  free(request);  // the server may still use it
  pthread_join(server, NULL);
  return 0;
}
