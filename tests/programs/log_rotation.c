/* Server log that is closed and opened again while clients write to it.
 *
 * Bug: rotate() closes the log and opens the next one in two critical sections; in between an entry is dropped as if
 * logging were turned off.
 * Shown by: a client writes between the two.
 * Idea: the missing log entries of MySQL in the ColFinder paper (MySQL-LogMiss).
 * Expected: message and exit status 1 (entries are missing). Arguments: clients (2).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int is_open = 1, entries, file = 1;

static void* client(void* arg) {
  (void)arg;
  pthread_mutex_lock(&lock);
  if (is_open) entries++;
  pthread_mutex_unlock(&lock);
  return NULL;
}

static void* rotate(void* arg) {
  (void)arg;
  pthread_mutex_lock(&lock);
  is_open = 0;
  pthread_mutex_unlock(&lock);
  pthread_mutex_lock(&lock);
  file++;
  is_open = 1;
  pthread_mutex_unlock(&lock);
  return NULL;
}

int main(int argc, char** argv) {
  int clients = argc > 1 ? atoi(argv[1]) : 2;
  pthread_t* ids = calloc((size_t)clients + 1, sizeof *ids);
  pthread_create(&ids[clients], NULL, rotate, NULL);
  for (int i = 0; i < clients; i++) pthread_create(&ids[i], NULL, client, NULL);
  for (int i = 0; i <= clients; i++) pthread_join(ids[i], NULL);
  free(ids);
  if (entries != clients) {
    fprintf(stderr, "%d of %d entries\n", entries, clients);
    return 1;
  }
  printf("%d entries, file %d\n", entries, file);
  return 0;
}
