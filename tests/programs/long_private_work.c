/* A lost update between long stretches of private work.
 *
 * Bug: two threads add to a total without a lock; between the additions each of them mixes a table of its own, so the
 * accesses that matter are a few among tens of thousands.
 * Shown by: A reads the total, B reads and writes it, A writes. One preemption.
 * Expected: exit status 1.
 * Arguments: passes over the table (8).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { kWords = 512 };
static unsigned table[2][kWords];
static int passes = 8;
static int total;

static void* mix(void* arg) {
  unsigned* half = arg;
  for (int pass = 0; pass < passes; pass++)
    for (int i = 1; i < kWords; i++) half[i] = half[i] * 31 + half[i - 1] + 1;
  total = total + 1;
  for (int pass = 0; pass < passes; pass++)
    for (int i = 1; i < kWords; i++) half[i] = half[i] * 31 + half[i - 1] + 1;
  return NULL;
}

int main(int argc, char** argv) {
  pthread_t threads[2];
  if (argc > 1) passes = atoi(argv[1]);
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, mix, table[i]);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  printf("total %d\n", total);
  return total == 2 ? 0 : 1;
}
