/* Factorisation whose threads take columns from a pool of tasks.
 *
 * Bug: taking a task reads and lowers the count of tasks without a lock.
 * Shown by: two threads take the same task, and both release it.
 * Idea: Cholesky of SPLASH-2, whose threads modify a shared variable, in the ColFinder paper; the code is ours.
 * Expected: memory error (double free or use after free). Arguments: threads (2), columns (2), rows (4).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { kMostThreads = 16, kMostTasks = 1024 };

struct task {
  double* column;
  int column_number;
};

static volatile int tasks;
static struct task* pool[kMostTasks];
static double norms[kMostTasks];
static int rows = 4;

static double norm(const double* column) {
  double sum = 0;
  for (int i = 0; i < rows; i++) sum += column[i] * column[i];
  return sum;
}

static void* factorise(void* arg) {
  (void)arg;
  for (;;) {
    int last = tasks - 1;
    if (last < 0) return NULL;
    tasks = last; /* bug: another thread may have read the same count */
    struct task* mine = pool[last];
    norms[mine->column_number] = norm(mine->column);
    free(mine->column);
    free(mine);
  }
}

int main(int argc, char** argv) {
  int threads = argc > 1 ? atoi(argv[1]) : 2, columns = argc > 2 ? atoi(argv[2]) : 2;
  if (argc > 3) rows = atoi(argv[3]);
  for (int i = 0; i < columns; i++) {
    pool[i] = malloc(sizeof *pool[i]);
    pool[i]->column = malloc(sizeof(double) * (size_t)rows);
    pool[i]->column_number = i;
    for (int k = 0; k < rows; k++) pool[i]->column[k] = i + k % 5;
  }
  tasks = columns;
  pthread_t ids[kMostThreads];
  for (int i = 0; i < threads; i++) pthread_create(&ids[i], NULL, factorise, NULL);
  for (int i = 0; i < threads; i++) pthread_join(ids[i], NULL);
  double sum = 0;
  for (int i = 0; i < columns; i++) sum += norms[i];
  printf("sum of norms %g\n", sum);
  return 0;
}
