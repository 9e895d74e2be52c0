// Before and after a barrier: no race.
#include <pthread.h>

int value;
static pthread_barrier_t barrier;

static void* other(void* unused) {
  pthread_barrier_wait(&barrier);
  value++;
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_barrier_init(&barrier, 0, 2);
  pthread_create(&thread, 0, other, 0);
  value = 1;
  pthread_barrier_wait(&barrier);
  pthread_join(thread, 0);
  return 0;
}
