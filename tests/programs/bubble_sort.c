/* Bubble sort with a thread for each pass. A pass may overtake the one ahead of it.
 *
 * Bug: a pass reads the progress of the pass before it, but does not wait until that is far enough.
 * Shown by: a later pass runs before an earlier one is done, so the array ends up unsorted.
 * Idea: BubbleSort of the RankChecker paper.
 * Expected: message and exit status 1 (not sorted). Arguments: numbers (4, at most 64).
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static int numbers = 4;
static int v[64];
static atomic_int done[64];  // comparisons that a pass has made

static void* pass(void* arg) {
  int me = (int)(long)arg;
  for (int i = 0; i + 1 + me < numbers; i++) {
    if (me > 0 && atomic_load(&done[me - 1]) < i + 2) sched_yield();  // `if` where `while` is needed
    if (v[i] > v[i + 1]) {
      int greater = v[i];
      v[i] = v[i + 1];
      v[i + 1] = greater;
    }
    atomic_fetch_add(&done[me], 1);
  }
  return NULL;
}

int main(int argc, char** argv) {
  if (argc > 1) numbers = atoi(argv[1]);
  pthread_t ids[64];
  for (int i = 0; i < numbers; i++) v[i] = numbers - i;
  for (long i = 0; i + 1 < numbers; i++) pthread_create(&ids[i], NULL, pass, (void*)i);
  for (int i = 0; i + 1 < numbers; i++) pthread_join(ids[i], NULL);
  for (int i = 0; i + 1 < numbers; i++)
    if (v[i] > v[i + 1]) {
      fprintf(stderr, "v[%d] is %d, v[%d] is %d\n", i, v[i], i + 1, v[i + 1]);
      return 1;
    }
  printf("sorted\n");
  return 0;
}
