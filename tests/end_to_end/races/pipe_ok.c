// The value is handed over through a pipe: no race.
#include <pthread.h>
#include <unistd.h>

int value, ends[2];

static void* other(void* unused) {
  char byte;
  if (read(ends[0], &byte, 1) != 1) return 0;
  value++;
  return unused;
}

int main(void) {
  pthread_t thread;
  if (pipe(ends) != 0) return 1;
  pthread_create(&thread, 0, other, 0);
  value = 1;
  if (write(ends[1], "x", 1) != 1) return 1;
  pthread_join(thread, 0);
  return 0;
}
