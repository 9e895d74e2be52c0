/* Spin locks: four threads take turns on a counter and note the order. */
#include <pthread.h>
#include <stdio.h>

enum { kThreads = 4, kTurns = 50 };
static pthread_spinlock_t lock;
static int order[kThreads * kTurns], used;

static void* thread(void* arg) {
  for (int i = 0; i < kTurns; i++) {
    pthread_spin_lock(&lock);
    order[used++] = (int)(long)arg;
    pthread_spin_unlock(&lock);
  }
  return NULL;
}

int main(void) {
  pthread_t ids[kThreads];
  pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
  for (long i = 0; i < kThreads; i++) pthread_create(&ids[i], NULL, thread, (void*)i);
  for (int i = 0; i < kThreads; i++) pthread_join(ids[i], NULL);
  for (int i = 0; i < used; i++) printf("%d", order[i]);
  pthread_spin_lock(&lock);
  printf("\ntrylock %d\n", pthread_spin_trylock(&lock));
  return 0;
}
