/* Threads that compute only in registers, after accesses that a trace records if they are instrumented: the values
 * that these leave in registers and flags persist as long as the loop runs, and identify the instant at which other
 * threads ran. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "fill_registers.h"

enum { THREADS = 2, TURNS = 100000000 };

static long values[2];
static _Atomic long counter;
static char text[64];

/* Leaves the carry flag as it was at the start. */
static uint64_t compute(uint64_t x) {
  uint64_t turns = TURNS;
  __asm__ volatile("1: lea 1(%0,%0,2), %0\n\tdec %1\n\tjne 1b" : "+a"(x), "+b"(turns) : : "cc");
  return x;
}

static void* work(void* argument) {
  uint64_t x = (uint64_t)argument;
  const long i = (long)argument;
  fill_registers();
  x += (uint64_t)values[i];
  x = compute(x);
  fill_registers();
  values[i] = 3;
  x = compute(x);
  fill_registers();
  atomic_fetch_add(&counter, 1);
  x = compute(x);
  fill_registers();
  x += (uint64_t)(atomic_load(&counter) != 0);
  x = compute(x);
  fill_registers();
  memset(text + 32 * i, 3, 32);
  x = compute(x);
  fill_registers();
  atomic_thread_fence(memory_order_seq_cst);
  return (void*)compute(x);
}

int main(void) {
  pthread_t threads[THREADS];
  for (long i = 0; i < THREADS; i++)
    if (pthread_create(&threads[i], NULL, work, (void*)i) != 0) return 1;
  for (int i = 0; i < THREADS; i++) {
    void* result;
    if (pthread_join(threads[i], &result) != 0) return 1;
    printf("%llx\n", (unsigned long long)(uintptr_t)result);
  }
  return 0;
}
