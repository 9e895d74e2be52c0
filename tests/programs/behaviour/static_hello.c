/* A statically linked program with threads: there is no dynamic loader and nothing can be preloaded. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int arrived;

static void* thread(void* arg) {
  pthread_mutex_lock(&lock);
  printf("arrival %d: thread %ld\n", ++arrived, (long)arg);
  pthread_mutex_unlock(&lock);
  return NULL;
}

int main(void) {
  pthread_t ids[3];
  struct timespec now;
  void* block = malloc(100);
  clock_gettime(CLOCK_REALTIME, &now);
  printf("hello from %d at %ld, block %p\n", getpid(), now.tv_nsec, block);
  for (long i = 0; i < 3; i++) pthread_create(&ids[i], NULL, thread, (void*)i);
  for (int i = 0; i < 3; i++) pthread_join(ids[i], NULL);
  free(block);
  return 0;
}
