// The threads write neighbouring bytes: no race.
#include <pthread.h>

char text[8];

static void* other(void* unused) {
  text[4] = 2;
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, other, 0);
  text[3] = 1;
  pthread_join(thread, 0);
  return 0;
}
