/* Pointer that is published before its object is filled in.
 *
 * Bug: the writer stores the pointer first and sets the fields afterwards.
 * Shown by: the reader runs between the two stores. One preemption.
 * Idea: order violations of the Mozilla kind in the HaPSet paper's extracts.
 * Expected: assertion in the reader (SIGABRT).
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct config {
  volatile int width;
  volatile int height;
};

static struct config* volatile config;
static int area = -1;

static void* writer(void* arg) {
  (void)arg;
  config = calloc(1, sizeof *config);
  config->width = 6;
  config->height = 7;
  return NULL;
}

static void* reader(void* arg) {
  (void)arg;
  struct config* seen = config;
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
  printf("area %d\n", area);
  free(config);
  return 0;
}
