/* A writer that reads the length of a buffer and uses the buffer in one critical section, and uses all of it.
 *
 * Correct twin of stale_length: no byte past its end is used, although the requested sizes end within the blocks that
 * the allocator gives.
 * Expected: passes under every schedule.
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
  for (int i = 0; i <= last; i++) buffer[i] = 'x';
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
