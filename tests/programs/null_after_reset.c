/* Cached document that another thread drops while it is drawn.
 *
 * Bug: every access to the cache is locked, but draw() relies on what load() stored in an earlier locked section.
 * Shown by: the cache is dropped between load() and draw(). One preemption, visible at lock operations.
 * Idea: the layout and image cache bugs among the Mozilla extracts of the HaPSet paper.
 * Expected: null pointer dereference (SIGSEGV).
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

static void load(void) {
  pthread_mutex_lock(&lock);
  if (!cache) cache = &on_disk;
  pthread_mutex_unlock(&lock);
}

static void draw(void) {
  pthread_mutex_lock(&lock);
  drawn += cache->pages;
  pthread_mutex_unlock(&lock);
}

static void* viewer(void* arg) {
  (void)arg;
  load();
  draw();
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
