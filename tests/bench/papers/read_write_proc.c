/* Reader that marks its request as pending after it has started it.
 *
 * Bug: main() starts the request and sets `pending` afterwards, which overwrites the note that it is done.
 * Shown by: the request is done before `pending` is set.
 * Idea: ReadWriteProc, an order violation among the Mozilla extracts of the HaPSet paper; the code is ours.
 * Expected: deadlock: the reader waits for a request that is done.
 */
#include <pthread.h>
#include <stdio.h>

#include "unrelated.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t done = PTHREAD_COND_INITIALIZER;
static int pending, requests;

static void* device(void* arg) {
  (void)arg;
  unrelated_work();
  pthread_mutex_lock(&lock);
  requests++;
  pending = 0;
  pthread_cond_signal(&done);
  pthread_mutex_unlock(&lock);
  return NULL;
}

int main(void) {
  pthread_t d;
  pthread_create(&d, NULL, device, NULL);
  unrelated_work();
  pthread_mutex_lock(&lock);
  pending = 1; /* bug: the request may be done already */
  while (pending) pthread_cond_wait(&done, &lock);
  pthread_mutex_unlock(&lock);
  pthread_join(d, NULL);
  printf("%d request\n", requests);
  return 0;
}
