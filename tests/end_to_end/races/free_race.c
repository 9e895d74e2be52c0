// One thread frees a block while the other writes to it: a race or a use after free, depending on the order.
#include <pthread.h>
#include <stdlib.h>

int* block;

static void* other(void* unused) {
  free(block);
  return unused;
}

int main(void) {
  pthread_t thread;
  block = malloc(64);
  pthread_create(&thread, 0, other, 0);
  block[1] = 3;
  pthread_join(thread, 0);
  return 0;
}
