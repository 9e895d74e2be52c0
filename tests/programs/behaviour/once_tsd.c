/* pthread_once and thread-specific data with destructors; __thread variables. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static __thread int local = 5;

static void destroy(void* value) {
  printf("destroying the data of thread %d\n", *(int*)value);
  free(value);
}

static void initialise(void) {
  printf("initialised once\n");
  pthread_key_create(&key, destroy);
}

static void* thread(void* arg) {
  pthread_once(&once, initialise);
  int* value = malloc(sizeof *value);
  *value = (int)(long)arg;
  pthread_setspecific(key, value);
  local += *value;
  printf("thread %d has %d and %d\n", *value, *(int*)pthread_getspecific(key), local);
  return NULL;
}

int main(void) {
  pthread_t ids[4];
  for (long i = 0; i < 4; i++) pthread_create(&ids[i], NULL, thread, (void*)i);
  for (int i = 0; i < 4; i++) pthread_join(ids[i], NULL);
  pthread_once(&once, initialise);
  printf("main has %d\n", local);
  return 0;
}
