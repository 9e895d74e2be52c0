/* Threads that sleep for different times; prints the order in which they wake and the measured times. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static void* sleeper(void* arg) {
  long n = (long)arg;
  struct timespec pause = {0, (4 - n) * 2000000}, before, after;
  clock_gettime(CLOCK_MONOTONIC, &before);
  if (n % 2)
    nanosleep(&pause, NULL);
  else
    clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
  clock_gettime(CLOCK_MONOTONIC, &after);
  printf("thread %ld slept %ld ns\n", n, (after.tv_sec - before.tv_sec) * 1000000000L + after.tv_nsec - before.tv_nsec);
  return NULL;
}

int main(void) {
  pthread_t ids[4];
  for (long i = 0; i < 4; i++) pthread_create(&ids[i], NULL, sleeper, (void*)i);
  usleep(1000);
  for (int i = 0; i < 4; i++) pthread_join(ids[i], NULL);
  return 0;
}
