/* Creates and joins threads, prints in the order in which they come, and their return values. Argument: threads (8). */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static void* thread(void* arg) {
  long n = (long)arg;
  printf("thread %ld runs\n", n);
  if (n % 2) pthread_exit((void*)(n * n));
  return (void*)(n * n);
}

int main(int argc, char** argv) {
  int threads = argc > 1 ? atoi(argv[1]) : 8;
  pthread_t* ids = calloc((size_t)threads, sizeof *ids);
  long sum = 0;
  for (long i = 0; i < threads; i++) pthread_create(&ids[i], NULL, thread, (void*)i);
  for (int i = 0; i < threads; i++) {
    void* value;
    pthread_join(ids[i], &value);
    sum += (long)value;
  }
  free(ids);
  printf("sum of squares %ld\n", sum);
  return 0;
}
