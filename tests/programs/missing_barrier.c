/* Two phases of a parallel computation without the barrier between them.
 *
 * Bug: each thread fills its part and then reads its neighbour's; nothing makes it wait until that one is filled.
 * Shown by: a thread reaches the second phase before its neighbour has finished the first.
 * Idea: the barriers taken out of the SPLASH-2 programs in the ColFinder paper.
 * Expected: message and exit status 1 (wrong sum). Arguments: threads (3, at most 64).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int threads = 3;
static int part[64], sum[64];

static void* compute(void* arg) {
  int me = (int)(long)arg;
  part[me] = me + 1;
  sum[me] = part[me] + part[(me + 1) % threads];
  return NULL;
}

int main(int argc, char** argv) {
  if (argc > 1) threads = atoi(argv[1]);
  pthread_t ids[64];
  for (long i = 0; i < threads; i++) pthread_create(&ids[i], NULL, compute, (void*)i);
  for (int i = 0; i < threads; i++) pthread_join(ids[i], NULL);
  for (int i = 0; i < threads; i++)
    if (sum[i] != i + 1 + (i + 1) % threads + 1) {
      fprintf(stderr, "sum %d is %d\n", i, sum[i]);
      return 1;
    }
  printf("sums are right\n");
  return 0;
}
