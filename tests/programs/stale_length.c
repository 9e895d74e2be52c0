/* A writer that learns the length of a buffer before another thread replaces it by a shorter one.
 *
 * Bug: the length is read in one critical section and the buffer used in the next, where it may be another.
 * Shown by: the writer reads the length, the other thread shrinks the buffer, the writer writes past its end.
 * Idea: length and pointer read apart, as in several image and network libraries.
 * Expected: heap out of bounds at the write (found in instrumented builds).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char* buffer;
static int length = 40;

static void* writer(void* arg) {
  (void)arg;
  pthread_mutex_lock(&lock);
  int last = length - 1;
  pthread_mutex_unlock(&lock);
  pthread_mutex_lock(&lock);
  buffer[last] = 'x';
  pthread_mutex_unlock(&lock);
  return NULL;
}

static void* shrinker(void* arg) {
  (void)arg;
  pthread_mutex_lock(&lock);
  free(buffer);
  length = 20;
  buffer = calloc(1, (size_t)length);
  pthread_mutex_unlock(&lock);
  return NULL;
}

int main(void) {
  pthread_t a, b;
  buffer = calloc(1, (size_t)length);
  pthread_create(&a, NULL, writer, NULL);
  pthread_create(&b, NULL, shrinker, NULL);
  pthread_join(a, NULL);
  pthread_join(b, NULL);
  printf("length %d\n", length);
  free(buffer);
  return 0;
}
