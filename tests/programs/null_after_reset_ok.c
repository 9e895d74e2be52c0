/* Correct twin of null_after_reset: a document is loaded and drawn in one critical section.
 * Expected: passes under every schedule.
 */
#include <pthread.h>
#include <stdio.h>

struct document {
  int pages;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct document on_disk = {12};
static struct document* cache;
static int drawn;

static void* viewer(void* arg) {
  (void)arg;
  pthread_mutex_lock(&lock);
  if (!cache) cache = &on_disk;
  drawn += cache->pages;
  pthread_mutex_unlock(&lock);
  return NULL;
}

static void* dropper(void* arg) {
  (void)arg;
  pthread_mutex_lock(&lock);
  cache = NULL;
  pthread_mutex_unlock(&lock);
  return NULL;
}

int main(void) {
  pthread_t v, d;
  pthread_create(&v, NULL, viewer, NULL);
  pthread_create(&d, NULL, dropper, NULL);
  pthread_join(v, NULL);
  pthread_join(d, NULL);
  printf("drawn %d\n", drawn);
  return 0;
}
