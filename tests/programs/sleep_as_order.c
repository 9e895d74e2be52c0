// A sleep in place of a join: main assumes that the worker is done after a second.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int* result;

static void* work(void* arg) {
  (void)arg;
  int* made = malloc(sizeof *made);
  *made = 42;
  result = made;
  return NULL;
}

int main(void) {
  pthread_t worker;
  pthread_create(&worker, NULL, work, NULL);
  sleep(1);
  printf("result %d\n", *result);
  pthread_join(worker, NULL);
  return 0;
}
