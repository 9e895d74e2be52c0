// Threads that each compute in one inlined loop, on a table whose contents never recur, and never reach the end of a
// function. They are stopped for an alarm and for a third thread, which counts ticks. A replay finds these instants,
// although the same instruction is executed hundreds of millions of times.
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include "check.h"

enum { SIGNALS = 3, TICKS = 4, WORDS = 1 << 12 };

static volatile sig_atomic_t signals;
static volatile int ticks;
static uint64_t tables[2][WORDS];
static double sums[2];

static void on_alarm(int number) {
  (void)number;
  signals++;
}

// Loops until `count` reaches `enough`.
static inline __attribute__((always_inline)) uint64_t compute(uint64_t* table, double* sum, volatile int* count,
                                                              int enough) {
  uint64_t x = 1, turns = 0;
  for (; *count < enough; turns++) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    table[x >> 52] ^= x;
    *sum += (double)(x >> 60);
  }
  return turns;
}

static __attribute__((noinline)) uint64_t compute_in_registers(uint64_t x) {
  for (uint64_t i = 0; i < 100000000; i++) x = x * 31 + (i ^ x >> 7);
  return x;
}

static void* clock_thread(void* unused) {
  const struct timespec nap = {0, 1000000};
  for (; ticks < TICKS; ticks++) nanosleep(&nap, NULL);
  return unused;
}

static void* worker(void* unused) {
  printf("%llx\n", (unsigned long long)compute_in_registers(1));
  printf("other %d\n", compute(tables[1], &sums[1], &ticks, TICKS) > 1000);
  return unused;
}

int main(void) {
  struct sigaction action = {.sa_handler = on_alarm};
  CHECK(sigaction(SIGALRM, &action, NULL) == 0);
  const struct itimerval often = {{0, 20000}, {0, 20000}}, never = {{0, 0}, {0, 0}};
  CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0);
  const uint64_t turns = compute(tables[0], &sums[0], (volatile int*)&signals, SIGNALS);
  CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0);
  printf("main %llu\n", (unsigned long long)turns);
  pthread_t threads[2];
  CHECK(pthread_create(&threads[0], NULL, worker, NULL) == 0);
  CHECK(pthread_create(&threads[1], NULL, clock_thread, NULL) == 0);
  for (int i = 0; i < 2; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  uint64_t all = 0;
  for (int i = 0; i < 2; i++)
    for (int k = 0; k < WORDS; k++) all = all * 31 + tables[i][k];
  printf("%llx %g %g\n", (unsigned long long)all, sums[0], sums[1]);
  return 0;
}
