/* Barriers: four threads in three rounds; the last to arrive is the serial thread. */
#include <pthread.h>
#include <stdio.h>

enum { kThreads = 4, kRounds = 3 };
static pthread_barrier_t barrier;

static void* thread(void* arg) {
  for (int i = 0; i < kRounds; i++) {
    int result = pthread_barrier_wait(&barrier);
    if (result == PTHREAD_BARRIER_SERIAL_THREAD) printf("round %d: thread %ld is serial\n", i, (long)arg);
    pthread_barrier_wait(&barrier);
  }
  return NULL;
}

int main(void) {
  pthread_t ids[kThreads];
  pthread_barrier_init(&barrier, NULL, kThreads);
  for (long i = 0; i < kThreads; i++) pthread_create(&ids[i], NULL, thread, (void*)i);
  for (int i = 0; i < kThreads; i++) pthread_join(ids[i], NULL);
  printf("destroy %d\n", pthread_barrier_destroy(&barrier));
  return 0;
}
