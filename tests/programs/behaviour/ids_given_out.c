/* Creates threads and processes one after the other: many more processes than may exist at once. Arguments:
   threads (200), processes (2100). */
#include <pthread.h>
#include "check.h"

enum { kTogether = 20 };

static unsigned long hash;

static void* thread(void* arg) {
  hash = hash * 31 + (unsigned long)arg;
  return arg;
}

static void run_together(long first) {
  pthread_t threads[kTogether];
  for (long i = 0; i < kTogether; i++) CHECK(pthread_create(&threads[i], NULL, thread, (void*)(first + i)) == 0);
  for (long i = 0; i < kTogether; i++) {
    void* result;
    CHECK(pthread_join(threads[i], &result) == 0 && result == (void*)(first + i));
  }
}

int main(int argc, char** argv) {
  long threads = argc > 1 ? atol(argv[1]) : 200;
  int processes = argc > 2 ? atoi(argv[2]) : 2100;
  for (long i = 0; i < threads; i += kTogether) run_together(i);
  for (int i = 0; i < processes; i++) {
    pid_t child = fork();
    if (child == 0) _exit(i % 7);
    CHECK(WEXITSTATUS(status_of(child)) == i % 7);
  }
  printf("all ended, %lx\n", hash);
  return 0;
}
