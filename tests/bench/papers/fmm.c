/* Simulation whose threads enter their boxes into a common list.
 *
 * Bug: each thread reads and raises the number of boxes without a lock.
 * Shown by: two threads enter their boxes at the same index, and the last entry of the list stays empty.
 * Idea: FMM of SPLASH-2, whose threads add to a global variable, in the ColFinder paper; the code is ours.
 * Expected: null pointer dereference (SIGSEGV). Arguments: threads (2), particles of a box (4), rounds (1).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { kMostThreads = 16 };

struct box {
  double mass;
};

static int threads = 2, particles = 4, rounds = 1;
static struct box boxes[kMostThreads];
static struct box* list[kMostThreads];
static volatile int listed;

static void* simulate(void* arg) {
  int me = (int)(long)arg;
  double* masses = malloc(sizeof(double) * (size_t)particles);
  for (int round = 0; round < rounds; round++)
    for (int i = 0; i < particles; i++) masses[i] = 1 + (i + round) % 3;
  for (int i = 0; i < particles; i++) boxes[me].mass += masses[i];
  free(masses);
  int at = listed;
  list[at] = &boxes[me];
  listed = at + 1; /* bug: another thread may have read the same number */
  return NULL;
}

int main(int argc, char** argv) {
  if (argc > 1) threads = atoi(argv[1]);
  if (argc > 2) particles = atoi(argv[2]);
  if (argc > 3) rounds = atoi(argv[3]);
  pthread_t ids[kMostThreads];
  for (long i = 0; i < threads; i++) pthread_create(&ids[i], NULL, simulate, (void*)i);
  for (int i = 0; i < threads; i++) pthread_join(ids[i], NULL);
  double sum = 0;
  for (int i = 0; i < threads; i++) sum += list[i]->mass;
  printf("mass %g\n", sum);
  return 0;
}
