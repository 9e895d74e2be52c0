/* File transport and the listener that it informs, each with a lock.
 *
 * Bug: the transport calls its listener with its own lock held; the listener cancels the transport with its lock held.
 * Shown by: both calls are under way at the same time.
 * Idea: FileTransport, a deadlock among the Mozilla extracts of the HaPSet paper; the code is ours.
 * Expected: deadlock.
 */
#include <pthread.h>
#include <stdio.h>

#include "unrelated.h"

static pthread_mutex_t transport = PTHREAD_MUTEX_INITIALIZER, listener = PTHREAD_MUTEX_INITIALIZER;
static int cancelled, informed;

static void* transfer(void* arg) {
  (void)arg;
  unrelated_work();
  pthread_mutex_lock(&transport);
  if (!cancelled) {
    pthread_mutex_lock(&listener); /* bug: the lock of the transport is held */
    informed++;
    pthread_mutex_unlock(&listener);
  }
  pthread_mutex_unlock(&transport);
  return NULL;
}

static void* stop(void* arg) {
  (void)arg;
  unrelated_work();
  pthread_mutex_lock(&listener);
  pthread_mutex_lock(&transport);
  cancelled = 1;
  pthread_mutex_unlock(&transport);
  pthread_mutex_unlock(&listener);
  return NULL;
}

int main(void) {
  pthread_t t, s;
  pthread_create(&t, NULL, transfer, NULL);
  pthread_create(&s, NULL, stop, NULL);
  pthread_join(t, NULL);
  pthread_join(s, NULL);
  printf("cancelled %d, informed %d\n", cancelled, informed);
  return 0;
}
