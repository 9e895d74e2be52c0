/* Semaphores: ping-pong between two threads, try and timed waits. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>

static sem_t ping, pong;

static void* player(void* arg) {
  (void)arg;
  for (int i = 0; i < 5; i++) {
    sem_wait(&ping);
    printf("pong %d\n", i);
    sem_post(&pong);
  }
  return NULL;
}

int main(void) {
  pthread_t t;
  struct timespec until;
  int value;
  sem_init(&ping, 0, 0);
  sem_init(&pong, 0, 0);
  pthread_create(&t, NULL, player, NULL);
  for (int i = 0; i < 5; i++) {
    printf("ping %d\n", i);
    sem_post(&ping);
    sem_wait(&pong);
  }
  pthread_join(t, NULL);
  int tried = sem_trywait(&ping);
  printf("trywait %d %d\n", tried, errno == EAGAIN);
  clock_gettime(CLOCK_REALTIME, &until);
  int timed = sem_timedwait(&ping, &until);
  printf("timedwait %d %d\n", timed, errno == ETIMEDOUT);
  sem_post(&ping);
  sem_getvalue(&ping, &value);
  printf("value %d\n", value);
  return 0;
}
