// The value is handed over through a socket pair: no race.
#include <pthread.h>
#include <sys/socket.h>

int value, ends[2];

static void* other(void* unused) {
  char byte;
  if (recv(ends[0], &byte, 1, 0) != 1) return 0;
  value++;
  return unused;
}

int main(void) {
  pthread_t thread;
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return 1;
  pthread_create(&thread, 0, other, 0);
  value = 1;
  if (send(ends[1], "x", 1, 0) != 1) return 1;
  pthread_join(thread, 0);
  return 0;
}
