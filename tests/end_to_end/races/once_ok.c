// Initialised with pthread_once: no race.
#include <pthread.h>

int value;
static volatile int seen;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void make(void) { value = 1; }

static void* other(void* unused) {
  pthread_once(&once, make);
  if (value != 1) return 0;
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, other, 0);
  pthread_once(&once, make);
  seen = value;
  pthread_join(thread, 0);
  return 0;
}
