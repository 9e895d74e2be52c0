// Two locks, taken in opposite orders two calls below main and below a thread's function. An undisturbed run does not
// deadlock: the main thread has long finished its locking when the other thread starts to lock.
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t ledger = PTHREAD_MUTEX_INITIALIZER, journal = PTHREAD_MUTEX_INITIALIZER;
static int entries;

// KEPT prevents inlining, GO_ON prevents tail calls.
#define KEPT __attribute__((noinline, noclone))
#define GO_ON __asm__ volatile("")

KEPT static void lock_both(pthread_mutex_t* first, pthread_mutex_t* second) {
  pthread_mutex_lock(first);
  pthread_mutex_lock(second);
  entries++;
  pthread_mutex_unlock(second);
  pthread_mutex_unlock(first);
}

KEPT static void post_entry(void) {
  lock_both(&ledger, &journal);
  GO_ON;
}

KEPT static void check_entry(void) {
  lock_both(&journal, &ledger);
  GO_ON;
}

KEPT static void* auditor(void* unused) {
  check_entry();
  GO_ON;
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, auditor, NULL);
  for (int i = 0; i < 3; i++) post_entry();
  pthread_join(thread, NULL);
  printf("%d entries\n", entries);
  return 0;
}
