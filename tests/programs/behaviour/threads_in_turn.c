/* Ten thousand threads, one after the other. Argument: threads (10000). */
#include <pthread.h>

#include "check.h"

static long sum;
static void* thread(void* argument) {
  sum += (long)argument;
  return argument;
}

int main(int argc, char** argv) {
  long threads = argc > 1 ? atol(argv[1]) : 10000;
  for (long i = 0; i < threads; i++) {
    pthread_t id;
    void* result = NULL;
    CHECK(pthread_create(&id, NULL, thread, (void*)i) == 0);
    CHECK(pthread_join(id, &result) == 0 && result == (void*)i);
  }
  CHECK(sum == threads * (threads - 1) / 2);
  printf("%ld threads\n", threads);
  return 0;
}
