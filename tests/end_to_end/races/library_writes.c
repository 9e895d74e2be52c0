// A write by the program and one by memset: a race.
#include <pthread.h>
#include <string.h>

char text[64];
static volatile unsigned long size = 40;

static void* other(void* unused) {
  text[3] = 2;
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, other, 0);
  memset(text, 1, size);
  pthread_join(thread, 0);
  return 0;
}
