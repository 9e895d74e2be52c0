/* Driver that is stopped while a request is on its way in.
 *
 * Bug: a request looks at the stopping flag before it counts itself as pending.
 * Shown by: the driver is stopped completely between the look and the count. One preemption.
 * Idea: the Bluetooth driver of the KISS work and nearly every model checker since.
 * Expected: assertion that a working request finds the driver running (SIGABRT).
 * Arguments: requests (1).
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_int pending = 1; /* one for the driver itself */
static atomic_int stopping, stopped;
static sem_t all_done;
static atomic_int served;

static void leave(void) {
  if (atomic_fetch_sub(&pending, 1) == 1) sem_post(&all_done);
}

static void* request(void* arg) {
  (void)arg;
  if (atomic_load(&stopping)) return NULL;
  atomic_fetch_add(&pending, 1);
  assert(!atomic_load(&stopped) && "a request works on a stopped driver");
  atomic_fetch_add(&served, 1);
  leave();
  return NULL;
}

static void* stop(void* arg) {
  (void)arg;
  atomic_store(&stopping, 1);
  leave();
  sem_wait(&all_done);
  atomic_store(&stopped, 1);
  return NULL;
}

int main(int argc, char** argv) {
  int requests = argc > 1 ? atoi(argv[1]) : 1;
  sem_init(&all_done, 0, 0);
  pthread_t* ids = calloc((size_t)requests + 1, sizeof *ids);
  for (int i = 0; i < requests; i++) pthread_create(&ids[i], NULL, request, NULL);
  pthread_create(&ids[requests], NULL, stop, NULL);
  for (int i = 0; i <= requests; i++) pthread_join(ids[i], NULL);
  free(ids);
  printf("served %d\n", served);
  return 0;
}
