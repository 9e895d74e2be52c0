/* The target of the gdb tests. Its lost update needs only system calls as schedule points (sched_yield), so it fails
 * soon under --chaos. Argument: assert (default), segv, deadlock, tsc, exit. */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <x86intrin.h>

int shared_counter;
_Thread_local int per_thread = 7;
static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;

static int increment(int amount) {
  int seen = shared_counter;
  int wanted = seen + amount;
  sched_yield();
  shared_counter = wanted;
  return wanted;
}

static void* worker(void* argument) {
  int rounds = *(int*)argument;
  int last = 0;
  per_thread = 40 + rounds;
  for (int i = 0; i < rounds; i++) {
    last = increment(1);
    sched_yield();
  }
  return last == 0 ? argument : NULL;
}

static void* locker(void* argument) {
  pthread_mutex_t* mine = argument;
  pthread_mutex_t* other = mine == &first ? &second : &first;
  pthread_mutex_lock(mine);
  sched_yield();
  pthread_mutex_lock(other);
  pthread_mutex_unlock(other);
  pthread_mutex_unlock(mine);
  return NULL;
}

static int read_through(const int* pointer) { return *pointer; }

static void run_workers(void) {
  pthread_t threads[2];
  int rounds[2] = {2, 3};
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, worker, &rounds[i]);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}

static int run_lockers(void) {
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, locker, &first);
  pthread_create(&threads[1], NULL, locker, &second);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  return 0;
}

static int read_clock(void) {
  unsigned long long before = __rdtsc();
  unsigned long long after = __rdtsc();
  sched_yield();
  return after >= before ? 3 : 4;
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "assert";
  if (strcmp(what, "deadlock") == 0) return run_lockers();
  if (strcmp(what, "tsc") == 0) return read_clock();
  run_workers();
  if (strcmp(what, "segv") == 0) return read_through(NULL);
  if (strcmp(what, "exit") == 0) return shared_counter == 0;
  assert(shared_counter == 5 && "an increment was lost");
  printf("counter %d\n", shared_counter);
  return 0;
}
