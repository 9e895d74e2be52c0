/* Thread that uses its own handle before its creator has stored it.
 *
 * Bug: the creator stores the handle after it has started the thread, which reads it from the same place.
 * Shown by: the thread runs before the store.
 * Idea: CreateThread, an order violation among the Mozilla extracts of the HaPSet paper; the code is ours.
 * Expected: null pointer dereference (SIGSEGV).
 */
#include <pthread.h>
#include <stdio.h>

#include "unrelated.h"

struct handle {
  pthread_t id;
  int priority;
};

static struct handle storage;
static struct handle* handle;

static void* run(void* arg) {
  (void)arg;
  unrelated_work();
  handle->priority = 1; /* bug: the handle may not be stored yet */
  return NULL;
}

int main(void) {
  pthread_t id;
  pthread_create(&id, NULL, run, NULL);
  storage.id = id;
  handle = &storage;
  unrelated_work();
  pthread_join(id, NULL);
  printf("priority %d\n", storage.priority);
  return 0;
}
