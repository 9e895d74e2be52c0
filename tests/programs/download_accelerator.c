/* Download in several parts whose progress counter is not protected.
 *
 * Bug: every part adds what it wrote to one shared counter without a lock; a monitor reads it to show the progress.
 * Shown by: two additions overlap and one is lost. One preemption.
 * Idea: the race on `bwritten` in aget 0.4 (HaPSet paper).
 * Expected: message and exit status 1.
 * Arguments: parts (2), blocks per part (2).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { kBlock = 512 };

static volatile long written;
static int blocks = 2;

static void* part(void* arg) {
  (void)arg;
  for (int i = 0; i < blocks; i++) written += kBlock;
  return NULL;
}

static void* monitor(void* arg) {
  *(long*)arg = written;
  return NULL;
}

int main(int argc, char** argv) {
  int parts = argc > 1 ? atoi(argv[1]) : 2;
  if (argc > 2) blocks = atoi(argv[2]);
  long shown = 0, size = (long)parts * blocks * kBlock;
  pthread_t m;
  pthread_t* ids = calloc((size_t)parts, sizeof *ids);
  for (int i = 0; i < parts; i++) pthread_create(&ids[i], NULL, part, NULL);
  pthread_create(&m, NULL, monitor, &shown);
  for (int i = 0; i < parts; i++) pthread_join(ids[i], NULL);
  pthread_join(m, NULL);
  free(ids);
  if (written != size) {
    fprintf(stderr, "wrote %ld of %ld bytes\n", written, size);
    return 1;
  }
  printf("wrote %ld bytes, the monitor saw %ld\n", written, shown);
  return 0;
}
