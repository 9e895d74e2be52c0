/* Measures the cost of a contended lock: two threads increment one counter. Argument: operations in all (1,000,000). */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long counter, each;

static void* add(void* arg) {
  (void)arg;
  for (long i = 0; i < each; i++) {
    pthread_mutex_lock(&lock);
    counter++;
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

int main(int argc, char** argv) {
  pthread_t threads[2];
  each = (argc > 1 ? atol(argv[1]) : 1000000) / 2;
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, add, NULL);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  printf("%ld\n", counter);
  return 0;
}
