/* Double-checked locking with a plain pointer that is published too early.
 *
 * Bug: the first check reads the pointer without the lock, and the creator stores the pointer before the object's
 * contents.
 * Shown by: a second thread passes the first check between the two stores. One preemption.
 * Idea: the well-known broken idiom.
 * Expected: assertion in use() (SIGABRT).
 * Arguments: threads (2).
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct service {
  volatile int port;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct service* volatile instance;

static struct service* get(void) {
  if (!instance) {
    pthread_mutex_lock(&lock);
    if (!instance) {
      instance = calloc(1, sizeof *instance);
      instance->port = 80;
    }
    pthread_mutex_unlock(&lock);
  }
  return instance;
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
  printf("port %d\n", instance->port);
  free(instance);
  return 0;
}
