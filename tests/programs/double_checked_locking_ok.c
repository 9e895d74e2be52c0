/* Correct twin of double_checked_locking: the finished object is published with a release store.
 * Expected: passes under every schedule. Arguments: threads (2).
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct service {
  int port;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(struct service*) instance;

static struct service* get(void) {
  struct service* seen = atomic_load_explicit(&instance, memory_order_acquire);
  if (!seen) {
    pthread_mutex_lock(&lock);
    seen = atomic_load_explicit(&instance, memory_order_relaxed);
    if (!seen) {
      seen = calloc(1, sizeof *seen);
      seen->port = 80;
      atomic_store_explicit(&instance, seen, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
  }
  return seen;
}

static void* use(void* arg) {
  (void)arg;
  assert(get()->port == 80 && "the service is not initialised");
  return NULL;
}

int main(int argc, char** argv) {
  int threads = argc > 1 ? atoi(argv[1]) : 2;
  pthread_t* ids = calloc((size_t)threads, sizeof *ids);
  for (int i = 0; i < threads; i++) pthread_create(&ids[i], NULL, use, NULL);
  for (int i = 0; i < threads; i++) pthread_join(ids[i], NULL);
  free(ids);
  struct service* seen = atomic_load(&instance);
  printf("port %d\n", seen->port);
  free(seen);
  return 0;
}
