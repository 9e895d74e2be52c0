/* Writers that append to a shared buffer.
 *
 * Bug: each finds its position outside of the lock and writes inside of it.
 * Shown by: two writers find the same position; one overwrites the other's cell.
 * Idea: BufWriter of the RankChecker and Falcon papers.
 * Expected: message and exit status 1.
 * Arguments: writers (2), cells per writer (1).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { kRoom = 4096 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int cells[kRoom];
static volatile int used;
static int per_writer = 1;

static void* writer(void* arg) {
  int name = (int)(long)arg;
  for (int i = 0; i < per_writer; i++) {
    int at = used;
    pthread_mutex_lock(&lock);
    if (at < kRoom) cells[at] = name;
    used = at + 1;
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int writers = argc > 1 ? atoi(argv[1]) : 2;
  if (argc > 2) per_writer = atoi(argv[2]);
  pthread_t* ids = calloc((size_t)writers, sizeof *ids);
  int written = 0;
  pthread_mutex_lock(&lock);
  used = 0;
  pthread_mutex_unlock(&lock);
  for (long i = 0; i < writers; i++) pthread_create(&ids[i], NULL, writer, (void*)(i + 1));
  for (int i = 0; i < writers; i++) pthread_join(ids[i], NULL);
  free(ids);
  for (int i = 0; i < kRoom; i++) written += cells[i] != 0;
  if (written != writers * per_writer) {
    fprintf(stderr, "%d cells written, should be %d\n", written, writers * per_writer);
    return 1;
  }
  printf("cells");
  for (int i = 0; i < written; i++) printf(" %d", cells[i]);
  printf("\n");
  return 0;
}
