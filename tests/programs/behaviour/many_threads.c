/* Many threads alive at once, released together by a barrier. Argument: threads (200). */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_barrier_t barrier;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long order_hash;

static void* thread(void* arg) {
  pthread_barrier_wait(&barrier);
  pthread_mutex_lock(&lock);
  order_hash = order_hash * 1099511628211u + (unsigned long)arg;
  pthread_mutex_unlock(&lock);
  return NULL;
}

int main(int argc, char** argv) {
  int threads = argc > 1 ? atoi(argv[1]) : 200;
  pthread_t* ids = calloc((size_t)threads, sizeof *ids);
  pthread_attr_t attr;
  pthread_attr_init(&attr);
  pthread_attr_setstacksize(&attr, 64 * 1024);
  pthread_barrier_init(&barrier, NULL, (unsigned)threads);
  for (long i = 0; i < threads; i++) {
    if (pthread_create(&ids[i], &attr, thread, (void*)i) != 0) {
      fprintf(stderr, "thread %ld was refused\n", i);
      return 1;
    }
  }
  for (int i = 0; i < threads; i++) pthread_join(ids[i], NULL);
  printf("%d threads, hash of their order %016lx\n", threads, order_hash);
  free(ids);
  return 0;
}
