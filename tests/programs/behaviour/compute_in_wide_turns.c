// A thread computes in iterations that write to a hundred words and restore all but the last, a counter. It does not
// wait for any thread, and a replay quickly finds in which of a million iterations other threads ran.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>

#include "check.h"

enum { kWords = 100 };

static atomic_int stop;
static volatile uint64_t words[kWords];
static volatile uint64_t turns;

static void* compute(void* unused) {
  (void)unused;
  while (atomic_load_explicit(&stop, memory_order_relaxed) == 0) {
    for (uint64_t i = 0; i < kWords; i++) words[i] = i;
    ++turns;
  }
  return NULL;
}

int main(void) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, compute, NULL) == 0);
  for (int i = 0; i < 2; i++) usleep(1000);
  atomic_store(&stop, 1);
  CHECK(pthread_join(thread, NULL) == 0);
  printf("%llu turns\n", (unsigned long long)turns);
  return 0;
}
