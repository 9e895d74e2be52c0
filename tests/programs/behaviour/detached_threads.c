/* Detached threads, by attribute and by pthread_detach; the last one to end notifies the main thread. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

static sem_t done;

static void* thread(void* arg) {
  printf("detached %ld\n", (long)arg);
  sem_post(&done);
  return NULL;
}

int main(void) {
  enum { kThreads = 6 };
  pthread_attr_t attr;
  sem_init(&done, 0, 0);
  pthread_attr_init(&attr);
  pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
  for (long i = 0; i < kThreads; i++) {
    pthread_t t;
    pthread_create(&t, i % 2 ? &attr : NULL, thread, (void*)i);
    if (i % 2 == 0) pthread_detach(t);
  }
  for (int i = 0; i < kThreads; i++) sem_wait(&done);
  pthread_attr_destroy(&attr);
  printf("all done\n");
  return 0;
}
