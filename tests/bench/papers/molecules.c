/* Molecules that attract each other, moved by several threads.
 *
 * It has no bug: it measures what an explored run costs.
 * Idea: Moldyn of the Java Grande suite in the RankChecker paper; the code is ours.
 * Arguments: molecules (100), steps (20).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { kThreads = 2, kMost = 4096 };

static pthread_barrier_t step_done;
static int molecules = 100, steps = 20;
static double place[kMost], speed[kMost];

static void* move(void* arg) {
  int me = (int)(long)arg;
  for (int step = 0; step < steps; step++) {
    for (int i = me; i < molecules; i += kThreads)
      for (int k = 0; k < molecules; k++) {
        double distance = place[k] - place[i];
        speed[i] += 1e-3 * distance / (1 + distance * distance);
      }
    pthread_barrier_wait(&step_done);
    for (int i = me; i < molecules; i += kThreads) place[i] += speed[i];
    pthread_barrier_wait(&step_done);
  }
  return NULL;
}

int main(int argc, char** argv) {
  if (argc > 1) molecules = atoi(argv[1]);
  if (argc > 2) steps = atoi(argv[2]);
  for (int i = 0; i < molecules; i++) place[i] = i;
  pthread_t ids[kThreads];
  pthread_barrier_init(&step_done, NULL, kThreads);
  for (long i = 0; i < kThreads; i++) pthread_create(&ids[i], NULL, move, (void*)i);
  for (int i = 0; i < kThreads; i++) pthread_join(ids[i], NULL);
  printf("first at %g\n", place[0]);
  return 0;
}
