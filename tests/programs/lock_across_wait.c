/* Guest who keeps the door locked while he waits for the host.
 *
 * Bug: the guest holds the lock `door` across his wait; the host needs it before he can notify.
 * Shown by: the guest arrives before the host has gone through the door. One free switch.
 * Idea: ours, after the nested monitor problem.
 * Expected: deadlock: the guest waits for the host's signal, the host for the door.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

static pthread_mutex_t door = PTHREAD_MUTEX_INITIALIZER, table = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t served = PTHREAD_COND_INITIALIZER;
static sem_t seated;
static int opened, dinner;

static void* host(void* arg) {
  (void)arg;
  pthread_mutex_lock(&door);
  opened = 1;
  pthread_mutex_unlock(&door);
  sem_wait(&seated);
  pthread_mutex_lock(&table);
  dinner = 1;
  pthread_cond_signal(&served);
  pthread_mutex_unlock(&table);
  return NULL;
}

static void* guest(void* arg) {
  (void)arg;
  pthread_mutex_lock(&door);
  pthread_mutex_lock(&table);
  sem_post(&seated);
  while (!dinner) pthread_cond_wait(&served, &table);
  pthread_mutex_unlock(&table);
  pthread_mutex_unlock(&door);
  return NULL;
}

int main(void) {
  pthread_t h, g;
  sem_init(&seated, 0, 0);
  pthread_create(&h, NULL, host, NULL);
  pthread_create(&g, NULL, guest, NULL);
  pthread_join(h, NULL);
  pthread_join(g, NULL);
  printf("opened %d, dinner %d\n", opened, dinner);
  return 0;
}
