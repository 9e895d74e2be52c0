/* Factorisation of a matrix, one column of all to each thread in turn.
 *
 * Bug: each thread takes its number with an increment that is not locked.
 * Shown by: two threads get the same number, so nobody computes the columns of the other one.
 * Idea: LU of SPLASH-2 without the lock of its global id, in the ColFinder paper; the code is ours.
 * Expected: message and exit status 1 (wrong factors). Arguments: threads (2), rows (4).
 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { kMostThreads = 16 };

static pthread_barrier_t step_done;
static volatile int next_id;
static int threads = 2, rows = 4;
static double *matrix, *original;

static void eliminate(int pivot, int column) {
  for (int i = pivot + 1; i < rows; i++)
    matrix[i * rows + column] -= matrix[i * rows + pivot] * matrix[pivot * rows + column];
}

static void* factorise(void* arg) {
  (void)arg;
  int me = next_id;
  next_id = me + 1; /* bug: another thread may have read the same number */
  for (int pivot = 0; pivot < rows; pivot++) {
    if (pivot % threads == me)
      for (int i = pivot + 1; i < rows; i++) matrix[i * rows + pivot] /= matrix[pivot * rows + pivot];
    pthread_barrier_wait(&step_done);
    for (int column = pivot + 1; column < rows; column++)
      if (column % threads == me) eliminate(pivot, column);
    pthread_barrier_wait(&step_done);
  }
  return NULL;
}

/* The product of the factors must be the matrix again; the last element is that of all steps. */
static int is_wrong(void) {
  double sum = 0;
  for (int k = 0; k < rows; k++)
    sum += (k == rows - 1 ? 1 : matrix[(rows - 1) * rows + k]) * matrix[k * rows + rows - 1];
  return fabs(sum - original[rows * rows - 1]) > 1e-6;
}

int main(int argc, char** argv) {
  if (argc > 1) threads = atoi(argv[1]);
  if (argc > 2) rows = atoi(argv[2]);
  matrix = malloc(sizeof(double) * (size_t)(rows * rows));
  original = malloc(sizeof(double) * (size_t)(rows * rows));
  for (int i = 0; i < rows * rows; i++) original[i] = matrix[i] = i % (rows + 1) == 0 ? 2 * rows : 1 + i % 3;
  pthread_t ids[kMostThreads];
  pthread_barrier_init(&step_done, NULL, (unsigned)threads);
  for (int i = 0; i < threads; i++) pthread_create(&ids[i], NULL, factorise, NULL);
  for (int i = 0; i < threads; i++) pthread_join(ids[i], NULL);
  if (is_wrong()) {
    fprintf(stderr, "wrong factors\n");
    return 1;
  }
  printf("factorised\n");
  return 0;
}
