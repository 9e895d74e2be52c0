// A block is used after the thread that freed it has ended: a use after free.
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
  pthread_join(thread, 0);
  block[1] = 3;
  return 0;
}
