/* Object whose reference count is decremented and tested in two steps.
 *
 * Bug: release() lowers the count under a lock, then reads it again without the lock to see whether to free.
 * Shown by: both owners lower the count before either reads it: the object is read after its release, and freed twice.
 * Idea: the reference count bugs of browser engines, as in the HaPSet paper's extracts.
 * Expected: memory error (read of a freed block, then a double free).
 * Arguments: owners (2).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct object {
  volatile int references;
  int value;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void release(struct object* o) {
  pthread_mutex_lock(&lock);
  o->references--;
  pthread_mutex_unlock(&lock);
  if (o->references == 0) free(o);
}

static void* owner(void* arg) {
  release(arg);
  return NULL;
}

int main(int argc, char** argv) {
  int owners = argc > 1 ? atoi(argv[1]) : 2;
  struct object* o = malloc(sizeof *o);
  o->references = owners;
  o->value = 5;
  pthread_t* ids = calloc((size_t)owners, sizeof *ids);
  for (int i = 0; i < owners; i++) pthread_create(&ids[i], NULL, owner, o);
  for (int i = 0; i < owners; i++) pthread_join(ids[i], NULL);
  free(ids);
  printf("released by %d owners\n", owners);
  return 0;
}
