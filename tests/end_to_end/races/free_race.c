// One thread frees what the other writes, without order: a race or a use after free.
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
