/* Parallel merge sort whose threads take their scratch space from an unlocked pool.
 *
 * Bug: acquire() reads the top of the pool and lowers it later; two sorters can get the same scratch array.
 * Shown by: both are between the read and the write, and then merge at the same time. Two preemptions.
 * Idea: MergeSort of the RankChecker and Falcon papers, where the count of available threads is unlocked.
 * Expected: message and exit status 1.
 * Arguments: elements per thread (4, at most 1024).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kThreads = 2, kMax = 1024 };

static int data[kThreads * kMax];
static int pool[kThreads][kMax];
static volatile int top = kThreads;
static int per_thread = 4;

static int* acquire(void) {
  int index = top - 1;
  top = index;
  return pool[index & (kThreads - 1)];
}

static void sort(int* v, int n, int* scratch) {
  if (n < 2) return;
  int half = n / 2, a = 0, b = half;
  sort(v, half, scratch);
  sort(v + half, n - half, scratch);
  for (int i = 0; i < n; i++) scratch[i] = b == n || (a < half && v[a] <= v[b]) ? v[a++] : v[b++];
  memcpy(v, scratch, (size_t)n * sizeof *v);
}

static void* sorter(void* arg) {
  sort(arg, per_thread, acquire());
  return NULL;
}

int main(int argc, char** argv) {
  if (argc > 1) per_thread = atoi(argv[1]);
  if (per_thread < 1 || per_thread > kMax) return 2;
  pthread_t ids[kThreads];
  for (int i = 0; i < kThreads * per_thread; i++) data[i] = (i * 7 + 5) % 31 + 100 * (i / per_thread);
  for (int i = 0; i < kThreads; i++) pthread_create(&ids[i], NULL, sorter, data + i * per_thread);
  for (int i = 0; i < kThreads; i++) pthread_join(ids[i], NULL);
  for (int i = 0; i + 1 < kThreads * per_thread; i++) {
    if (data[i] > data[i + 1] || data[i] / 100 != i / per_thread) {
      fprintf(stderr, "element %d is out of place: %d\n", i, data[i]);
      return 1;
    }
  }
  printf("sorted %d elements, first %d\n", kThreads * per_thread, data[0]);
  return 0;
}
