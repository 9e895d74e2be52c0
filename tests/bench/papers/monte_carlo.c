/* Simulated prices, one path a task, taken by several threads from a counter under a lock.
 *
 * It has no bug: it measures what an explored run costs.
 * Idea: MonteCarlo of the Java Grande suite in the RankChecker paper; the code is ours.
 * Arguments: paths (60), length of a path (2000).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { kThreads = 2, kMost = 1024 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int next, paths = 60, length = 2000;
static double* prices[kMost];

static void* simulate(void* arg) {
  (void)arg;
  for (;;) {
    pthread_mutex_lock(&lock);
    int mine = next < paths ? next++ : -1;
    pthread_mutex_unlock(&lock);
    if (mine < 0) return NULL;
    unsigned state = (unsigned)mine + 1;
    for (int i = 1; i < length; i++) {
      state = state * 1103515245u + 12345u;
      prices[mine][i] = prices[mine][i - 1] + (state >> 16) % 3 - 1.0;
    }
  }
}

int main(int argc, char** argv) {
  if (argc > 1) paths = atoi(argv[1]);
  if (argc > 2) length = atoi(argv[2]);
  for (int i = 0; i < paths; i++) prices[i] = calloc((size_t)length, sizeof(double));
  pthread_t ids[kThreads];
  for (int i = 0; i < kThreads; i++) pthread_create(&ids[i], NULL, simulate, NULL);
  for (int i = 0; i < kThreads; i++) pthread_join(ids[i], NULL);
  printf("last price %g\n", prices[paths - 1][length - 1]);
  return 0;
}
