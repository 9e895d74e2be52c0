/* Picture whose width and height belong together.
 *
 * Bug: resize() sets them in two critical sections of the lock.
 * Shown by: the painter reads both between the two sections. One preemption, visible at lock operations.
 * Idea: ours, after the multi-variable bugs of the MUVI paper (Lu et al., SOSP 2007).
 * Expected: assertion (SIGABRT).
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int width = 1, height = 1;
static int painted;

static void resize(int side) {
  pthread_mutex_lock(&lock);
  width = side;
  pthread_mutex_unlock(&lock);
  pthread_mutex_lock(&lock);
  height = side;
  pthread_mutex_unlock(&lock);
}

static void* painter(void* arg) {
  (void)arg;
  for (int i = 0; i < 3; i++) {
    pthread_mutex_lock(&lock);
    assert(width == height && "the picture is a square");
    painted += width * height;
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

int main(void) {
  pthread_t p;
  pthread_create(&p, NULL, painter, NULL);
  resize(2);
  pthread_join(p, NULL);
  printf("painted %d\n", painted > 0);
  return 0;
}
