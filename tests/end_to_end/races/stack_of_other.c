// A thread writes to the stack of main, which writes there, too: a race.
#include <pthread.h>

static void* other(void* place) {
  *(int*)place = 2;
  return 0;
}

int main(void) {
  pthread_t thread;
  int value = 0;
  pthread_create(&thread, 0, other, &value);
  value = 1;
  pthread_join(thread, 0);
  return 0;
}
