/* Vector of blocks from which two threads allocate.
 *
 * Bug: finding a free block and marking it allocated are two separate calls.
 * Shown by: both threads find the same block before either marks it.
 * Idea: AllocationVector of the RankChecker paper.
 * Expected: assertion in mark_allocated (SIGABRT).
 * Arguments: threads (2), blocks per thread (2).
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { kBlocks = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char allocated[kBlocks];
static int per_thread = 2;

static int find_free(void) {
  int found = -1;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < kBlocks && found < 0; i++)
    if (!allocated[i]) found = i;
  pthread_mutex_unlock(&lock);
  return found;
}

static void mark(int block, char value) {
  pthread_mutex_lock(&lock);
  assert(allocated[block] != value && "block allocated or freed twice");
  allocated[block] = value;
  pthread_mutex_unlock(&lock);
}

static void* user(void* arg) {
  int mine[kBlocks], count = 0;
  (void)arg;
  for (int i = 0; i < per_thread; i++) {
    int block = find_free();
    if (block < 0) break;
    mark(block, 1);
    mine[count++] = block;
  }
  while (count > 0) mark(mine[--count], 0);
  return NULL;
}

int main(int argc, char** argv) {
  int threads = argc > 1 ? atoi(argv[1]) : 2;
  if (argc > 2) per_thread = atoi(argv[2]);
  pthread_t* ids = calloc((size_t)threads, sizeof *ids);
  for (int i = 0; i < threads; i++) pthread_create(&ids[i], NULL, user, NULL);
  for (int i = 0; i < threads; i++) pthread_join(ids[i], NULL);
  free(ids);
  printf("first free block %d\n", find_free());
  return 0;
}
