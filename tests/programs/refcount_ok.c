/* Correct twin of refcount_uaf: the owner whose atomic decrement reaches zero frees, and nobody else looks again.
 * Expected: passes under every schedule. Arguments: owners (2).
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct object {
  atomic_int references;
  int value;
};

static atomic_int freed;

static void release(struct object* o) {
  if (atomic_fetch_sub_explicit(&o->references, 1, memory_order_acq_rel) == 1) {
    free(o);
    atomic_fetch_add(&freed, 1);
  }
}

static void* owner(void* arg) {
  release(arg);
  return NULL;
}

int main(int argc, char** argv) {
  int owners = argc > 1 ? atoi(argv[1]) : 2;
  struct object* o = malloc(sizeof *o);
  atomic_init(&o->references, owners);
  o->value = 5;
  pthread_t* ids = calloc((size_t)owners, sizeof *ids);
  for (int i = 0; i < owners; i++) pthread_create(&ids[i], NULL, owner, o);
  for (int i = 0; i < owners; i++) pthread_join(ids[i], NULL);
  free(ids);
  printf("freed %d time, by %d owners\n", freed, owners);
  return freed == 1 ? 0 : 1;
}
