// An atomic write and a plain one: a race.
#include <pthread.h>

int value;

static void* other(void* unused) {
  value = 2;
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, other, 0);
  __atomic_store_n(&value, 1, __ATOMIC_SEQ_CST);
  pthread_join(thread, 0);
  return 0;
}
