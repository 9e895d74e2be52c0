/* Renderer whose threads add their check sums under locks of their own.
 *
 * Bug: each thread makes the lock that it uses, so the lock excludes nobody.
 * Shown by: two threads add their sums to the total at the same time, and one addition is lost.
 * Idea: RayTracer of the Java Grande suite, in the Falcon paper.
 * Expected: message and exit status 1 (wrong check sum). Arguments: threads (2), rows each (2).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static long checksum;
static int rows = 2;

static void* render(void* arg) {
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  long mine = 0;
  for (int y = 0; y < rows; y++)
    for (int x = 0; x < 4; x++) mine += x * y + (long)arg;
  pthread_mutex_lock(&lock);
  checksum += mine;
  pthread_mutex_unlock(&lock);
  return NULL;
}

int main(int argc, char** argv) {
  int threads = argc > 1 ? atoi(argv[1]) : 2;
  if (argc > 2) rows = atoi(argv[2]);
  pthread_t* ids = calloc((size_t)threads, sizeof *ids);
  long expected = 0;
  for (long i = 1; i <= threads; i++) {
    pthread_create(&ids[i - 1], NULL, render, (void*)i);
    for (int y = 0; y < rows; y++)
      for (int x = 0; x < 4; x++) expected += x * y + i;
  }
  for (int i = 0; i < threads; i++) pthread_join(ids[i], NULL);
  free(ids);
  if (checksum != expected) {
    fprintf(stderr, "check sum %ld instead of %ld\n", checksum, expected);
    return 1;
  }
  printf("check sum %ld\n", checksum);
  return 0;
}
