/* Two phases of a parallel computation with a barrier between them. Correct twin of missing_barrier.
 *
 * Expected: passes under every schedule. Arguments: threads (3, at most 64).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int threads = 3;
static pthread_barrier_t filled;
static int part[64], sum[64];

static void* compute(void* arg) {
  int me = (int)(long)arg;
  part[me] = me + 1;
  pthread_barrier_wait(&filled);
  sum[me] = part[me] + part[(me + 1) % threads];
  return NULL;
}

int main(int argc, char** argv) {
  if (argc > 1) threads = atoi(argv[1]);
  pthread_t ids[64];
  pthread_barrier_init(&filled, NULL, (unsigned)threads);
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
