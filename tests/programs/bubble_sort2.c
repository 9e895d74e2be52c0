/* Bubble sort in which several threads swap neighbours of the same array.
 *
 * Bug: compare and swap of two neighbours are unprotected, so two swaps that share an element can lose a value.
 * Shown by: one thread is preempted in the middle of a swap.
 * Idea: BubbleSort2 of the RankChecker and Falcon papers.
 * Expected: message and exit status 1 (the values are not a permutation of the input).
 * Arguments: threads (2), elements (4).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { kMax = 256 };

static volatile int v[kMax];
static int elements = 4;

static void* sorter(void* arg) {
  (void)arg;
  for (int end = elements - 1; end > 0; end--) {
    for (int i = 0; i < end; i++) {
      if (v[i] > v[i + 1]) {
        int greater = v[i];
        v[i] = v[i + 1];
        v[i + 1] = greater;
      }
    }
  }
  return NULL;
}

int main(int argc, char** argv) {
  int threads = argc > 1 ? atoi(argv[1]) : 2;
  if (argc > 2) elements = atoi(argv[2]);
  if (elements < 1 || elements > kMax) return 2;
  for (int i = 0; i < elements; i++) v[i] = elements - i;
  pthread_t* ids = calloc((size_t)threads, sizeof *ids);
  for (int i = 0; i < threads; i++) pthread_create(&ids[i], NULL, sorter, NULL);
  for (int i = 0; i < threads; i++) pthread_join(ids[i], NULL);
  free(ids);
  for (int i = 0; i < elements; i++) {
    if (v[i] != i + 1) {
      fprintf(stderr, "v[%d] is %d\n", i, v[i]);
      return 1;
    }
  }
  printf("sorted %d elements\n", elements);
  return 0;
}
