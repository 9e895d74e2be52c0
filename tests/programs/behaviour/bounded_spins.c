/* Workers that poll for work a hundred thousand times between two locks, and a thread that waits for them in a loop of
 * loads, as in servers with I/O threads. Each must let the others run. */
#include <pthread.h>

#include "check.h"

enum { kWorkers = 2, kRounds = 20, kSpins = 100000 };

static pthread_mutex_t locks[kWorkers] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int pending[kWorkers], stopping;
static long done[kWorkers];

static int load(const int* from) { return __atomic_load_n(from, __ATOMIC_ACQUIRE); }

static void* work(void* argument) {
  const long me = (long)argument;
  while (!load(&stopping)) {
    for (int i = 0; i < kSpins && load(&pending[me]) == 0; i++) {
    }
    pthread_mutex_lock(&locks[me]);
    pthread_mutex_unlock(&locks[me]);
    if (load(&pending[me]) == 0) continue;
    done[me] += pending[me];
    __atomic_store_n(&pending[me], 0, __ATOMIC_RELEASE);
  }
  return NULL;
}

int main(void) {
  pthread_t workers[kWorkers];
  for (long i = 0; i < kWorkers; i++) pthread_create(&workers[i], NULL, work, (void*)i);
  for (int round = 1; round <= kRounds; round++) {
    for (int i = 0; i < kWorkers; i++) __atomic_store_n(&pending[i], round, __ATOMIC_RELEASE);
    while (load(&pending[0]) + load(&pending[1]) != 0) {
    }
  }
  __atomic_store_n(&stopping, 1, __ATOMIC_RELEASE);
  for (int i = 0; i < kWorkers; i++) pthread_join(workers[i], NULL);
  printf("%ld %ld\n", done[0], done[1]);
  return 0;
}
