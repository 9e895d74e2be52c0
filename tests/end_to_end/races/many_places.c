// Three pairs of places: three reports.
#include <pthread.h>

_Alignas(8) int first;
_Alignas(8) int second;
_Alignas(8) int third;

static void* other(void* unused) {
  first = 2;
  second = 2;
  third = 2;
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, other, 0);
  first = 1;
  second = 1;
  third = 1;
  pthread_join(thread, 0);
  return 0;
}
