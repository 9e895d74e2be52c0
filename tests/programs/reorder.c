/* Setters store two variables in order. Checkers read them and can see only one store.
 *
 * Bug: the two stores are not atomic.
 * Shown by: a checker runs between a setter's two stores; with more setters fewer schedules show it.
 * Idea: the reorder_N subjects of the systematic concurrency testing benchmarks.
 * Expected: assertion in checker() (SIGABRT).
 * Arguments: setters (2), checkers (1).
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static volatile int a, b;

static void* setter(void* arg) {
  (void)arg;
  a = 1;
  b = -1;
  return NULL;
}

static void* checker(void* arg) {
  (void)arg;
  int seen_a = a;
  int seen_b = b;
  assert((seen_a == 0 || seen_b == -1) && "a is set and b is not");
  return NULL;
}

int main(int argc, char** argv) {
  int setters = argc > 1 ? atoi(argv[1]) : 2;
  int checkers = argc > 2 ? atoi(argv[2]) : 1;
  pthread_t* ids = calloc((size_t)(setters + checkers), sizeof *ids);
  for (int i = 0; i < setters; i++) pthread_create(&ids[i], NULL, setter, NULL);
  for (int i = 0; i < checkers; i++) pthread_create(&ids[setters + i], NULL, checker, NULL);
  for (int i = 0; i < setters + checkers; i++) pthread_join(ids[i], NULL);
  free(ids);
  printf("a %d b %d\n", a, b);
  return 0;
}
