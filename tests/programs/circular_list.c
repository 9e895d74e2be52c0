/* Circular list that two threads rotate.
 *
 * Bug: rotate() removes the first element in one locked call and appends it in another.
 * Shown by: A removes 0, B removes 1 and appends 1, A appends 0: the list is no longer a rotation of 0 1 2 3.
 * Idea: CircularList of the ColFinder paper.
 * Expected: message and exit status 1.
 * Arguments: threads (2), rotations per thread (1).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { kSize = 4, kRoom = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ring[kRoom];
static unsigned head, tail;
static int rotations = 1;

static int remove_first(void) {
  pthread_mutex_lock(&lock);
  int value = head == tail ? -1 : ring[head++ % kRoom];
  pthread_mutex_unlock(&lock);
  return value;
}

static void append(int value) {
  pthread_mutex_lock(&lock);
  ring[tail++ % kRoom] = value;
  pthread_mutex_unlock(&lock);
}

static void* rotate(void* arg) {
  (void)arg;
  for (int i = 0; i < rotations; i++) {
    int value = remove_first();
    if (value >= 0) append(value);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int threads = argc > 1 ? atoi(argv[1]) : 2;
  if (argc > 2) rotations = atoi(argv[2]);
  for (int i = 0; i < kSize; i++) append(i);
  pthread_t* ids = calloc((size_t)threads, sizeof *ids);
  for (int i = 0; i < threads; i++) pthread_create(&ids[i], NULL, rotate, NULL);
  for (int i = 0; i < threads; i++) pthread_join(ids[i], NULL);
  free(ids);
  for (unsigned i = head; i + 1 < tail; i++) {
    if (ring[(i + 1) % kRoom] != (ring[i % kRoom] + 1) % kSize) {
      fprintf(stderr, "the ring is out of order: %d is followed by %d\n", ring[i % kRoom], ring[(i + 1) % kRoom]);
      return 1;
    }
  }
  printf("first %d, %u elements\n", ring[head % kRoom], tail - head);
  return 0;
}
