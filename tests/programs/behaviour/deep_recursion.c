/* Deep recursion on the main stack and on a thread's stack, so that stacks have to grow. Argument: depth (20000). */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int depth = 20000;

static int recurse(int n, volatile char* above) {
  volatile char frame[200];
  frame[0] = (char)n;
  if (above) frame[1] = above[0];
  if (n == 0) return 0;
  return recurse(n - 1, frame) + 1 + (frame[0] != (char)n);
}

static void* thread(void* arg) {
  (void)arg;
  char local;
  printf("thread: %d, stack near %p\n", recurse(depth, NULL), (void*)&local);
  return NULL;
}

int main(int argc, char** argv) {
  pthread_t t;
  char local;
  if (argc > 1) depth = atoi(argv[1]);
  printf("main: %d, stack near %p\n", recurse(depth, NULL), (void*)&local);
  pthread_create(&t, NULL, thread, NULL);
  pthread_join(t, NULL);
  return 0;
}
