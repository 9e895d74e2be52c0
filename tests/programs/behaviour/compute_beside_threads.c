/*
 * Threads that compute for a second without a schedule point, while others could run, are not preempted: a replay that
 * had to find an instant within their loops would take minutes.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 1500, THREADS = 3 };

static int compare(const void* a, const void* b) { return memcmp(a, b, 8); }

static void* sorter(void* arg) {
  static char rows[THREADS][SIZE * 40][8];
  char(*mine)[8] = rows[(long)arg];
  unsigned long random = 12345 + (unsigned long)(long)arg, sum = 0;
  for (int round = 0; round < 40; round++) {
    for (int i = 0; i < SIZE * 40; i++) {
      random = random * 6364136223846793005ul + 1442695040888963407ul;
      memcpy(mine[i], &random, 8);
    }
    qsort(mine, SIZE * 40, 8, compare);
    sum = sum * 31 + (unsigned char)mine[SIZE][3];
  }
  return (void*)sum;
}

int main(void) {
  pthread_t threads[THREADS];
  for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, sorter, (void*)i);
  for (int i = 0; i < THREADS; i++) {
    void* sum;
    pthread_join(threads[i], &sum);
    printf("sum %lu\n", (unsigned long)sum);
  }
  return 0;
}
