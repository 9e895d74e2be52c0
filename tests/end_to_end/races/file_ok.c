// The value is handed over through a file: ThreadSanitizer reports no race.
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

int value, in, out;

static void* other(void* unused) {
  char byte;
  while (pread(in, &byte, 1, 0) != 1) sched_yield();
  value++;
  return unused;
}

int main(void) {
  pthread_t thread;
  char name[] = "/tmp/races-file-XXXXXX";
  close(mkstemp(name));
  out = open(name, O_WRONLY);
  in = open(name, O_RDONLY);
  unlink(name);
  pthread_create(&thread, 0, other, 0);
  value = 1;
  if (write(out, "x", 1) != 1) return 1;
  pthread_join(thread, 0);
  return 0;
}
