// Main writes before the start and after the join, the thread in between: no race.
#include <pthread.h>

int value;

static void* other(void* unused) {
  value++;
  return unused;
}

int main(void) {
  pthread_t thread;
  value = 1;
  pthread_create(&thread, 0, other, 0);
  pthread_join(thread, 0);
  value++;
  return 0;
}
