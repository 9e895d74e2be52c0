/* Correct twin of publish_before_init: the object is filled in before its pointer is published, under a lock.
 * Expected: passes under every schedule.
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct config {
  int width;
  int height;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct config* config;
static int area = -1;

static void* writer(void* arg) {
  (void)arg;
  struct config* fresh = calloc(1, sizeof *fresh);
  fresh->width = 6;
  fresh->height = 7;
  pthread_mutex_lock(&lock);
  config = fresh;
  pthread_mutex_unlock(&lock);
  return NULL;
}

static void* reader(void* arg) {
  (void)arg;
  pthread_mutex_lock(&lock);
  struct config* seen = config;
  pthread_mutex_unlock(&lock);
  if (seen) {
    area = seen->width * seen->height;
    assert(area == 42 && "the object was read before it was filled in");
  }
  return NULL;
}

int main(void) {
  pthread_t w, r;
  pthread_create(&w, NULL, writer, NULL);
  pthread_create(&r, NULL, reader, NULL);
  pthread_join(w, NULL);
  pthread_join(r, NULL);
  printf("area %d\n", area == 42 || area == -1);
  free(config);
  return 0;
}
