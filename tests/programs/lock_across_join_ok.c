/* Correct twin of lock_across_join: main unlocks the table before it joins.
 * Expected: passes under every schedule.
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
  pthread_rwlock_unlock(&table);
  pthread_join(r, NULL);
  printf("seen %d\n", seen > 0);
  return 0;
}
