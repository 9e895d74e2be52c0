// A library without instrumentation that locks for its caller; see stacks_mixed.c.
#include <pthread.h>

static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};

__attribute__((noinline, noclone)) static int hold_both(int first, int (*work)(void)) {
  pthread_mutex_lock(&locks[first]);
  pthread_mutex_lock(&locks[1 - first]);
  const int result = work();
  pthread_mutex_unlock(&locks[1 - first]);
  pthread_mutex_unlock(&locks[first]);
  return result;
}

int library_do(int first, int (*work)(void)) { return hold_both(first, work) + 1; }
