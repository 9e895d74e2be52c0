/* Relaxation of a grid whose threads add up how much has changed.
 *
 * Bug: each thread adds its part to the global sum without a lock.
 * Shown by: two threads add at the same time, and one part is lost.
 * Idea: Ocean of SPLASH-2 without the lock of a global sum, in the ColFinder paper; the code is ours.
 * Expected: message and exit status 1 (wrong sum). Arguments: threads (2), rows (6), rounds (1).
 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { kMostThreads = 16 };

static pthread_barrier_t round_done;
static int threads = 2, rows = 6, rounds = 1;
static double *grid, *next;
static volatile double changed;
static double parts[kMostThreads];

static double relax(int row) {
  double sum = 0;
  for (int column = 1; column < rows - 1; column++) {
    const double* at = &grid[row * rows + column];
    double value = 0.25 * (at[-1] + at[1] + at[-rows] + at[rows]);
    sum += fabs(value - *at);
    next[row * rows + column] = value;
  }
  return sum;
}

static void* solve(void* arg) {
  int me = (int)(long)arg;
  for (int round = 0; round < rounds; round++) {
    double mine = 0;
    for (int row = 1 + me; row < rows - 1; row += threads) mine += relax(row);
    parts[me] += mine;
    changed += mine; /* bug: not locked */
    pthread_barrier_wait(&round_done);
    if (me == 0) {
      double* swapped = grid;
      grid = next;
      next = swapped;
    }
    pthread_barrier_wait(&round_done);
  }
  return NULL;
}

int main(int argc, char** argv) {
  if (argc > 1) threads = atoi(argv[1]);
  if (argc > 2) rows = atoi(argv[2]);
  if (argc > 3) rounds = atoi(argv[3]);
  grid = malloc(sizeof(double) * (size_t)(rows * rows));
  next = malloc(sizeof(double) * (size_t)(rows * rows));
  for (int i = 0; i < rows * rows; i++) grid[i] = next[i] = i % 7;
  pthread_t ids[kMostThreads];
  pthread_barrier_init(&round_done, NULL, (unsigned)threads);
  for (long i = 0; i < threads; i++) pthread_create(&ids[i], NULL, solve, (void*)i);
  for (int i = 0; i < threads; i++) pthread_join(ids[i], NULL);
  double expected = 0;
  for (int i = 0; i < threads; i++) expected += parts[i];
  if (fabs(changed - expected) > 1e-6) {
    fprintf(stderr, "sum %g instead of %g\n", changed, expected);
    return 1;
  }
  printf("sum %g\n", changed);
  return 0;
}
