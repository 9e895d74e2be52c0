// An instrumented program that calls a library without instrumentation, which calls it back.
#include <pthread.h>
#include <stdio.h>

int library_do(int first, int (*work)(void));

static pthread_mutex_t inner = PTHREAD_MUTEX_INITIALIZER;
static int count;

__attribute__((noinline)) static int counted(void) {
  pthread_mutex_lock(&inner);
  const int now = ++count;
  pthread_mutex_unlock(&inner);
  return now;
}

__attribute__((noinline)) static int forwards(void) { return library_do(0, counted) + 1; }
__attribute__((noinline)) static int backwards(void) { return library_do(1, counted) + 2; }

static void* worker(void* unused) {
  backwards();
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, worker, NULL);
  forwards();
  pthread_join(thread, NULL);
  printf("%d\n", count);
  return 0;
}
