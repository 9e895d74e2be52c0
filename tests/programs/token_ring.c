/* Token ring whose monitor makes a second token.
 *
 * Bug: while a station works, it has taken the token off the ring, and the monitor mistakes this for a lost token. It
 * makes a new one in a second locked section.
 * Shown by: the monitor checks while a station works, and another station gets the new token before the work is done.
 * Idea: the token ring of the concurrency verification collections, as a protocol.
 * Expected: assertion that one station works at a time (SIGABRT).
 * Arguments: stations (3).
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { kInHand = -1 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int holder;
static int stations = 3;
static int working, turns;

static void* station(void* arg) {
  int me = (int)(long)arg;
  pthread_mutex_lock(&lock);
  int mine = holder == me;
  if (mine) {
    holder = kInHand;
    working++;
    assert(working == 1 && "two tokens in the ring");
  }
  pthread_mutex_unlock(&lock);
  if (!mine) return NULL;

  pthread_mutex_lock(&lock);
  working--;
  turns++;
  holder = (me + 1) % stations;
  pthread_mutex_unlock(&lock);
  return NULL;
}

static void* monitor(void* arg) {
  (void)arg;
  pthread_mutex_lock(&lock);
  int lost = holder == kInHand;
  pthread_mutex_unlock(&lock);
  if (lost) {
    pthread_mutex_lock(&lock);
    holder = stations - 1;
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

int main(int argc, char** argv) {
  if (argc > 1) stations = atoi(argv[1]);
  pthread_t* ids = calloc((size_t)stations + 1, sizeof *ids);
  for (long i = 0; i < stations; i++) pthread_create(&ids[i], NULL, station, (void*)i);
  pthread_create(&ids[stations], NULL, monitor, NULL);
  for (int i = 0; i <= stations; i++) pthread_join(ids[i], NULL);
  free(ids);
  printf("turns %d, the token is at %d\n", turns, holder);
  return 0;
}
