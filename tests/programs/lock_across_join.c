/* Table that main keeps locked for writing while it joins the reader.
 *
 * Bug: main holds the write lock across the join of a thread that takes the read lock.
 * Shown by: main locks between the reader's start and its read lock. One preemption.
 * Idea: ours.
 * Expected: deadlock: main waits for the reader's end, the reader for the lock.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static sem_t started;
static int rows = 3, seen;

static void* reader(void* arg) {
  (void)arg;
  sem_post(&started);
  pthread_rwlock_rdlock(&table);
  seen = rows;
  pthread_rwlock_unlock(&table);
  return NULL;
}

int main(void) {
  pthread_t r;
  sem_init(&started, 0, 0);
  pthread_create(&r, NULL, reader, NULL);
  sem_wait(&started);
  pthread_rwlock_wrlock(&table);
  rows++;
  pthread_join(r, NULL);
  pthread_rwlock_unlock(&table);
  printf("seen %d\n", seen > 0);
  return 0;
}
