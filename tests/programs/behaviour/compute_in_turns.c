/* A thread computes in iterations of some thousand instructions, all alike except for a counter far from the other
 * data of an iteration, in a program with much memory. The number of iterations until another thread stops it must be
 * the same in a replay. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include "check.h"

enum { kMemory = 96 << 20, kWords = 64, kSteps = 64 * kWords };

static atomic_int stop;
static volatile uint64_t words[kWords];

static void* compute(void* counter) {
  volatile uint64_t* turns = counter;
  while (atomic_load_explicit(&stop, memory_order_relaxed) == 0) {
    for (uint64_t i = 0; i < kSteps; i++) words[i % kWords] = i;
    ++*turns;
  }
  return NULL;
}

int main(void) {
  unsigned char* memory = malloc(kMemory);
  CHECK(memory != NULL);
  memset(memory, 1, kMemory);
  uint64_t* counter = (uint64_t*)(memory + kMemory / 2);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, compute, counter) == 0);
  for (int i = 0; i < 3; i++) usleep(1000);
  atomic_store(&stop, 1);
  CHECK(pthread_join(thread, NULL) == 0);
  printf("%llu turns\n", (unsigned long long)(*counter - 0x0101010101010101));
  return 0;
}
