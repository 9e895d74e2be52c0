/* Radix sort whose threads do not wait for the sums.
 *
 * Bug: the barrier between the computation of the keys' places and their use is missing.
 * Shown by: a thread moves its keys before the first thread has summed up the counts.
 * Idea: Radix of SPLASH-2 with a wrong barrier, in the ColFinder paper; the code is ours.
 * Expected: message and exit status 1 (not sorted). Arguments: threads (2), keys (6).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { kMostThreads = 16, kRadix = 16, kDigits = 2 };

static pthread_barrier_t phase_done;
static int threads = 2, keys = 6;
static int *from, *to;
static int place[kMostThreads][kRadix];

static void sum_up(void) {
  int sum = 0;
  for (int digit = 0; digit < kRadix; digit++)
    for (int t = 0; t < threads; t++) {
      int count = place[t][digit];
      place[t][digit] = sum;
      sum += count;
    }
}

static void* sort(void* arg) {
  int me = (int)(long)arg, begin = keys * me / threads, end = keys * (me + 1) / threads;
  for (int shift = 0; shift < 4 * kDigits; shift += 4) {
    for (int digit = 0; digit < kRadix; digit++) place[me][digit] = 0;
    for (int i = begin; i < end; i++) place[me][(from[i] >> shift) % kRadix]++;
    pthread_barrier_wait(&phase_done);
    if (me == 0) sum_up();
    /* bug: the others must wait here until the counts are summed up */
    for (int i = begin; i < end; i++) to[place[me][(from[i] >> shift) % kRadix]++] = from[i];
    pthread_barrier_wait(&phase_done);
    if (me == 0) {
      int* swapped = from;
      from = to;
      to = swapped;
    }
    pthread_barrier_wait(&phase_done);
  }
  return NULL;
}

int main(int argc, char** argv) {
  if (argc > 1) threads = atoi(argv[1]);
  if (argc > 2) keys = atoi(argv[2]);
  from = malloc(sizeof(int) * (size_t)keys);
  to = calloc((size_t)keys, sizeof(int));
  for (int i = 0; i < keys; i++) from[i] = i * 7919 % 251;
  pthread_t ids[kMostThreads];
  pthread_barrier_init(&phase_done, NULL, (unsigned)threads);
  for (long i = 0; i < threads; i++) pthread_create(&ids[i], NULL, sort, (void*)i);
  for (int i = 0; i < threads; i++) pthread_join(ids[i], NULL);
  for (int i = 1; i < keys; i++)
    if (from[i - 1] > from[i]) {
      fprintf(stderr, "not sorted at %d\n", i);
      return 1;
    }
  printf("sorted\n");
  return 0;
}
