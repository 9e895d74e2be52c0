// Two threads compute, and check only rarely whether the other has made as much progress. Each gets its turn, and a
// replay finds the instants where one was stopped for the other.
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

#include "check.h"

static atomic_int told[2];
static uint64_t numbers[2][1 << 12];

static __attribute__((noinline)) uint64_t compute(uint64_t* table, uint64_t x) {
  for (int i = 0; i < 1 << 18; i++) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    table[x >> 52] ^= x;
  }
  return x;
}

static void* work(void* argument) {
  const int me = argument == &told[1];
  uint64_t x = (uint64_t)me;
  atomic_store(&told[me], 1);
  while (!atomic_load(&told[1 - me])) x = compute(numbers[me], x);
  return (void*)(uintptr_t)(x | 1);
}

int main(void) {
  pthread_t thread[2];
  void* result[2];
  for (int i = 0; i < 2; i++) CHECK(pthread_create(&thread[i], NULL, work, &told[i]) == 0);
  for (int i = 0; i < 2; i++) CHECK(pthread_join(thread[i], &result[i]) == 0 && result[i] != NULL);
  printf("%p %p\n", result[0], result[1]);
  return 0;
}
