/* Log with a sweeper that discards entries that it has not handled.
 *
 * Bug: sweep() notes the number of entries, handles them, and then sets the number to zero in another locked section.
 * Shown by: an entry is logged between the two sections. One preemption.
 * Idea: LogProcSweep of the ColFinder paper.
 * Expected: message and exit status 1.
 * Arguments: entries per logging thread (2), sweeps (2).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { kRoom = 1024 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int entries[kRoom];
static int used;
static int logged, swept; /* each written by one thread only */
static int to_log = 2, sweeps = 2;

static void* logger(void* arg) {
  (void)arg;
  for (int i = 0; i < to_log; i++) {
    pthread_mutex_lock(&lock);
    if (used < kRoom) {
      entries[used++] = i;
      logged++;
    }
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

static void sweep(void) {
  pthread_mutex_lock(&lock);
  int count = used;
  pthread_mutex_unlock(&lock);

  swept += count;

  pthread_mutex_lock(&lock);
  used = 0;
  pthread_mutex_unlock(&lock);
}

static void* sweeper(void* arg) {
  (void)arg;
  for (int i = 0; i < sweeps; i++) sweep();
  return NULL;
}

int main(int argc, char** argv) {
  if (argc > 1) to_log = atoi(argv[1]);
  if (argc > 2) sweeps = atoi(argv[2]);
  pthread_t l, s;
  pthread_create(&l, NULL, logger, NULL);
  pthread_create(&s, NULL, sweeper, NULL);
  pthread_join(l, NULL);
  pthread_join(s, NULL);
  sweep();
  if (swept != logged) {
    fprintf(stderr, "%d entries logged, %d swept\n", logged, swept);
    return 1;
  }
  printf("swept %d\n", swept);
  return 0;
}
