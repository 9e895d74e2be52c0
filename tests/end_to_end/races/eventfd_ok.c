// The value is handed over through an eventfd: no race.
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

int value, counter;

static void* other(void* unused) {
  eventfd_t got;
  if (eventfd_read(counter, &got) != 0) return 0;
  value++;
  return unused;
}

int main(void) {
  pthread_t thread;
  counter = eventfd(0, 0);
  pthread_create(&thread, 0, other, 0);
  value = 1;
  if (eventfd_write(counter, 1) != 0) return 1;
  pthread_join(thread, 0);
  return 0;
}
