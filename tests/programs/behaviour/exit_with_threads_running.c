/* The main thread ends the process while others block, sleep and compute. */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static sem_t started, never;
static atomic_ulong counted;

static void* blocked(void* arg) {
  sem_post(&started);
  sem_wait(&never);
  return arg;
}

static void* computing(void* arg) {
  sem_post(&started);
  for (;;) atomic_fetch_add(&counted, 1);
  return arg;
}

static void* reading(void* arg) {
  char byte;
  sem_post(&started);
  return read(*(int*)arg, &byte, 1) == 1 ? arg : NULL;
}

int main(void) {
  int ends[2];
  pthread_t t;
  if (pipe(ends) != 0) return 1;
  sem_init(&started, 0, 0);
  sem_init(&never, 0, 0);
  pthread_create(&t, NULL, blocked, NULL);
  pthread_create(&t, NULL, computing, NULL);
  pthread_create(&t, NULL, reading, ends);
  for (int i = 0; i < 3; i++) sem_wait(&started);
  printf("counted %lu, leaving\n", atomic_load(&counted));
  return 0;
}
