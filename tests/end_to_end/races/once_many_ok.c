// Many values, each initialised once, by either thread. The other thread may continue before the initialising thread
// has returned from pthread_once.
#include <pthread.h>
#include <sched.h>

enum { kMany = 2000 };
static int values[kMany];
static pthread_once_t once[kMany];
static __thread int at;
static void make(void) {
  if (at % 16 == 0) sched_yield();
  values[at] = 1;
}

static void* use(void* unused) {
  for (at = 0; at < kMany; at++) {
    pthread_once(&once[at], make);
    if (values[at] != 1) return unused;
  }
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, use, 0);
  use(0);
  pthread_join(thread, 0);
  return 0;
}
