// A loop without system calls, whose progress another thread prints. Each number is the iteration at which the loop was
// preempted. counted_loops_test.py compares what gdb shows there.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { LOOKS = 12 };

static volatile unsigned long progress;
static volatile int done;

static void* look(void* argument) {
  for (int i = 0; i < LOOKS; i++) {
    char text[32];
    usleep(3000);
    const int bytes = snprintf(text, sizeof text, "%lu\n", progress);
    if (write(STDOUT_FILENO, text, (size_t)bytes) != bytes) break;
  }
  done = 1;
  return argument;
}

static unsigned long compute(void) {
  unsigned long sum = 1;
  while (!done) {
    sum = sum * 3 + 1;
    progress++;
  }
  return sum;
}

int main(void) {
  pthread_t looker;
  if (pthread_create(&looker, NULL, look, NULL) != 0) return 1;
  const unsigned long sum = compute();
  pthread_join(looker, NULL);
  printf("%lu %lx\n", progress, sum);
  return 0;
}
