/* Search for the shortest round trip; several threads share the best length under a lock.
 *
 * It has no bug: it measures what an explored run costs.
 * Idea: TSP in the RankChecker paper; the code is ours.
 * Arguments: towns (8, at most 16).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { kThreads = 2, kMost = 16 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int towns = 8, best = 1 << 30;
static int distances[kMost][kMost];

static void arrive(int length) {
  pthread_mutex_lock(&lock);
  if (length < best) best = length;
  pthread_mutex_unlock(&lock);
}

static void visit(int town, unsigned visited, int length) {
  if (visited == (1u << towns) - 1) {
    if (length < 6 * towns) arrive(length);
    return;
  }
  for (int next = 0; next < towns; next++)
    if (!(visited >> next & 1)) visit(next, visited | 1u << next, length + distances[town][next]);
}

static void* search(void* arg) {
  for (int first = 1 + (int)(long)arg; first < towns; first += kThreads)
    visit(first, 1u | 1u << first, distances[0][first]);
  return NULL;
}

int main(int argc, char** argv) {
  if (argc > 1) towns = atoi(argv[1]);
  for (int i = 0; i < towns; i++)
    for (int k = 0; k < towns; k++) distances[i][k] = 3 + (i * 7 + k * 5) % 11;
  pthread_t ids[kThreads];
  for (long i = 0; i < kThreads; i++) pthread_create(&ids[i], NULL, search, (void*)i);
  for (int i = 0; i < kThreads; i++) pthread_join(ids[i], NULL);
  printf("best %d\n", best);
  return 0;
}
