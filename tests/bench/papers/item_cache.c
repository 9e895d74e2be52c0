/* Cache of items in a table under one lock, used by several threads.
 *
 * It has no bug: it measures what an explored run costs.
 * Idea: Cache4j in the RankChecker paper; the code is ours.
 * Arguments: requests of each thread (3000).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { kThreads = 2, kSlots = 256, kWords = 16 };

struct item {
  unsigned key;
  int words[kWords];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct item* slots[kSlots];
static int requests = 3000, hits;

static int get(unsigned key) {
  struct item* item = slots[key % kSlots];
  int sum = 0;
  if (item == NULL || item->key != key) return -1;
  for (int i = 0; i < kWords; i++) sum += item->words[i];
  return sum;
}

static void put(unsigned key) {
  free(slots[key % kSlots]);
  struct item* item = malloc(sizeof *item);
  item->key = key;
  for (int i = 0; i < kWords; i++) item->words[i] = (int)key % 100 + i;
  slots[key % kSlots] = item;
}

static void* client(void* arg) {
  unsigned state = (unsigned)(long)arg + 1;
  for (int i = 0; i < requests; i++) {
    state = state * 1103515245u + 12345u;
    unsigned key = state >> 16 & 1023;
    pthread_mutex_lock(&lock);
    if (get(key) < 0)
      put(key);
    else
      hits++;
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

int main(int argc, char** argv) {
  if (argc > 1) requests = atoi(argv[1]);
  pthread_t ids[kThreads];
  for (long i = 0; i < kThreads; i++) pthread_create(&ids[i], NULL, client, (void*)i);
  for (int i = 0; i < kThreads; i++) pthread_join(ids[i], NULL);
  printf("%d hits\n", hits);
  return 0;
}
