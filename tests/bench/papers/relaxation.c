/* Successive over-relaxation of a grid in rows of two colours.
 *
 * It has no bug: it measures what an explored run costs.
 * Idea: Sor in the RankChecker paper; the code is ours.
 * Arguments: rows (60), rounds (20).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { kThreads = 2, kMost = 512 };

static pthread_barrier_t half_done;
static int rows = 60, rounds = 20;
static double grid[kMost][kMost];

static void* relax(void* arg) {
  int me = (int)(long)arg;
  for (int half = 0; half < 2 * rounds; half++) {
    for (int i = 1 + half % 2 + 2 * me; i < rows - 1; i += 2 * kThreads)
      for (int k = 1; k < rows - 1; k++)
        grid[i][k] += 0.3 * (grid[i - 1][k] + grid[i + 1][k] + grid[i][k - 1] + grid[i][k + 1] - 4 * grid[i][k]);
    pthread_barrier_wait(&half_done);
  }
  return NULL;
}

int main(int argc, char** argv) {
  if (argc > 1) rows = atoi(argv[1]);
  if (argc > 2) rounds = atoi(argv[2]);
  for (int i = 0; i < rows; i++) grid[i][0] = i;
  pthread_t ids[kThreads];
  pthread_barrier_init(&half_done, NULL, kThreads);
  for (long i = 0; i < kThreads; i++) pthread_create(&ids[i], NULL, relax, (void*)i);
  for (int i = 0; i < kThreads; i++) pthread_join(ids[i], NULL);
  printf("middle %g\n", grid[rows / 2][rows / 2]);
  return 0;
}
