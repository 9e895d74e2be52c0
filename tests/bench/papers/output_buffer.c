/* Compressor whose writer looks at the finished blocks without the lock.
 *
 * Bug: a consumer stores a block's data and then its size; the writer takes the block as soon as it has data.
 * Shown by: the writer looks between the two stores and writes a block of size 0.
 * Idea: the race on OutputBuffer between the consumers and fileWriter of pbzip2, after its shutdown was mended, in the
 * HaPSet paper; the code is ours.
 * Expected: message and exit status 1 (wrong size of the output). Arguments: consumers (2), blocks (2).
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

enum { kMost = 16, kSize = 900 };

struct block {
  char* volatile data;
  volatile int size;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct block output[kMost];
static char storage[kMost][kSize];
static int next, blocks = 2;

static int take(void) {
  pthread_mutex_lock(&lock);
  int block = next < blocks ? next++ : -1;
  pthread_mutex_unlock(&lock);
  return block;
}

static void* consumer(void* arg) {
  (void)arg;
  for (int block; (block = take()) >= 0;) {
    output[block].data = storage[block];
    output[block].size = kSize; /* bug: the writer may already have taken the block */
  }
  return NULL;
}

static void* writer(void* arg) {
  for (int block = 0; block < blocks; block++) {
    while (output[block].data == NULL) sched_yield();
    *(int*)arg += output[block].size;
  }
  return NULL;
}

int main(int argc, char** argv) {
  int consumers = argc > 1 ? atoi(argv[1]) : 2, written = 0;
  if (argc > 2) blocks = atoi(argv[2]);
  pthread_t ids[kMost + 1];
  for (int i = 0; i < consumers; i++) pthread_create(&ids[i], NULL, consumer, NULL);
  pthread_create(&ids[consumers], NULL, writer, &written);
  for (int i = 0; i <= consumers; i++) pthread_join(ids[i], NULL);
  if (written != blocks * kSize) {
    fprintf(stderr, "wrote %d bytes\n", written);
    return 1;
  }
  printf("wrote %d bytes\n", written);
  return 0;
}
