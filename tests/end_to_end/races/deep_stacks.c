// A race between two nested functions: both stacks are complete.
#include <pthread.h>

int value;
static __attribute__((noinline)) void inner(int with) { value = with; }
static __attribute__((noinline)) void outer(int with) {
  inner(with);
  __asm__ volatile("");
}

static void* other(void* unused) {
  outer(2);
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, other, 0);
  outer(1);
  pthread_join(thread, 0);
  return 0;
}
