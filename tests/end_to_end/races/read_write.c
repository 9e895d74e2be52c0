// A read and a write: a race.
#include <pthread.h>

int value;
static volatile int seen;

static void* other(void* unused) {
  value = 2;
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, other, 0);
  seen = value;
  pthread_join(thread, 0);
  return 0;
}
