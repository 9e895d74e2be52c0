// The allocator gives one thread the block that the other has freed: no race.
#include <pthread.h>
#include <stdlib.h>

static void* other(void* unused) {
  for (int i = 0; i < 100; i++) {
    volatile int* block = malloc(48);
    block[0] = i;
    free((void*)block);
  }
  return unused;
}

int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, other, 0);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
  return 0;
}
