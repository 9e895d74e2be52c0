// Both writes come after the barrier: a race.
#include <pthread.h>

int value;
static pthread_barrier_t barrier;

static void* other(void* unused) {
  pthread_barrier_wait(&barrier);
  value = 2;
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_barrier_init(&barrier, 0, 2);
  pthread_create(&thread, 0, other, 0);
  pthread_barrier_wait(&barrier);
  value = 1;
  pthread_join(thread, 0);
  return 0;
}
