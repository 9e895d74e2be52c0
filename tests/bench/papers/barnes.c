/* Simulation of bodies whose threads find out the space that the bodies take.
 *
 * Bug: each thread compares its lowest and highest body with the global ones, and sets these, without a lock.
 * Shown by: a thread compares before and sets after another one has set a higher value.
 * Idea: Barnes of SPLASH-2, whose threads read and write global variables, in the ColFinder paper; the code is ours.
 * Expected: message and exit status 1 (wrong bounds). Arguments: threads (2), bodies (4), rounds (1).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { kMostThreads = 16 };

static int threads = 2, bodies = 4, rounds = 1;
static double *position, *force;
static volatile double highest = -1e9;

static void pull(int body) {
  double sum = 0;
  for (int other = 0; other < bodies; other++) {
    double distance = position[other] - position[body];
    sum += distance / (1 + distance * distance);
  }
  force[body] = sum;
}

static void* simulate(void* arg) {
  int me = (int)(long)arg, begin = bodies * me / threads, end = bodies * (me + 1) / threads;
  double mine = -1e9;
  for (int round = 0; round < rounds; round++)
    for (int i = begin; i < end; i++) pull(i);
  for (int i = begin; i < end; i++)
    if (position[i] > mine) mine = position[i];
  if (mine > highest) highest = mine; /* bug: the highest value may have changed in between */
  return NULL;
}

int main(int argc, char** argv) {
  if (argc > 1) threads = atoi(argv[1]);
  if (argc > 2) bodies = atoi(argv[2]);
  if (argc > 3) rounds = atoi(argv[3]);
  position = malloc(sizeof(double) * (size_t)bodies);
  force = malloc(sizeof(double) * (size_t)bodies);
  for (int i = 0; i < bodies; i++) position[i] = i;
  pthread_t ids[kMostThreads];
  for (long i = 0; i < threads; i++) pthread_create(&ids[i], NULL, simulate, (void*)i);
  for (int i = 0; i < threads; i++) pthread_join(ids[i], NULL);
  if (highest != bodies - 1) {
    fprintf(stderr, "the highest body is at %g\n", highest);
    return 1;
  }
  printf("the highest body is at %g\n", highest);
  return 0;
}
