/* Measures the cost of one memory access: each thread mixes its own half of a table. Meant to be built with
 * -fsanitize=thread as well. Arguments: passes over 64 KiB (500), threads (2; at most 2). */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { kWords = 8192 };
static unsigned long table[2][kWords];
static long passes;

static void* mix(void* arg) {
  unsigned long* half = arg;
  for (long pass = 0; pass < passes; pass++)
    for (int i = 1; i < kWords; i++) half[i] = half[i] * 31 + half[i - 1] + 1;
  return NULL;
}

int main(int argc, char** argv) {
  pthread_t threads[2];
  passes = argc > 1 ? atol(argv[1]) : 500;
  int count = argc > 2 ? atoi(argv[2]) : 2;
  if (count < 1 || count > 2) return 2;
  for (int i = 0; i < count; i++) pthread_create(&threads[i], NULL, mix, table[i]);
  for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
  printf("%lu\n", table[0][kWords - 1] ^ table[1][kWords / 2]);
  return 0;
}
