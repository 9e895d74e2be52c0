/* Measures the cost of tracking a single variable of a memory-heavy program: each thread mixes its own half of a table
 * and counts its passes in one variable without a lock. Argument: passes over 64 KiB (40). */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { kWords = 8192 };
static unsigned long table[2][kWords];
static long passes = 40, done;

static void* mix(void* arg) {
  unsigned long* half = arg;
  for (long pass = 0; pass < passes; pass++) {
    for (int i = 1; i < kWords; i++) half[i] = half[i] * 31 + half[i - 1] + 1;
    done = done + 1;
  }
  return NULL;
}

int main(int argc, char** argv) {
  pthread_t threads[2];
  if (argc > 1) passes = atol(argv[1]);
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, mix, table[i]);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  printf("%lu %s\n", table[0][kWords - 1] ^ table[1][kWords / 2], done > 0 ? "counted" : "not counted");
  return 0;
}
