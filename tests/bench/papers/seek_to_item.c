/* List of items with one position for all of its readers.
 *
 * Bug: seek_to_item() and current_item() are two critical sections.
 * Shown by: another reader seeks between the two.
 * Idea: SeekToItem, an atomicity violation among the Mozilla extracts of the HaPSet paper; the code is ours.
 * Expected: message and exit status 1 (a wrong item).
 */
#include <pthread.h>
#include <stdio.h>

#include "unrelated.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const int items[4] = {10, 11, 12, 13};
static int position;
static int seen[2];

static void seek_to_item(int to) {
  pthread_mutex_lock(&lock);
  position = to;
  pthread_mutex_unlock(&lock);
}

static int current_item(void) {
  pthread_mutex_lock(&lock);
  int item = items[position]; /* bug: the position may be another reader's */
  pthread_mutex_unlock(&lock);
  return item;
}

static void* reader(void* arg) {
  int me = (int)(long)arg;
  unrelated_work();
  seek_to_item(me + 1);
  seen[me] = current_item();
  unrelated_work();
  return NULL;
}

int main(void) {
  pthread_t ids[2];
  for (long i = 0; i < 2; i++) pthread_create(&ids[i], NULL, reader, (void*)i);
  for (int i = 0; i < 2; i++) pthread_join(ids[i], NULL);
  if (seen[0] != items[1] || seen[1] != items[2]) {
    fprintf(stderr, "items %d and %d\n", seen[0], seen[1]);
    return 1;
  }
  printf("items %d and %d\n", seen[0], seen[1]);
  return 0;
}
