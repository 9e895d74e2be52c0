/* Cancellation: of a thread blocked in a read, in a condition wait, and at an explicit point; with clean-up handlers.
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int ends[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

static void clean_up(void* arg) { printf("clean-up of %s\n", (const char*)arg); }

static void release(void* arg) {
  printf("clean-up unlocks\n");
  pthread_mutex_unlock(arg);
}

static void* reading(void* arg) {
  char byte;
  pthread_cleanup_push(clean_up, "the reader");
  if (read(ends[0], &byte, 1) == 1) printf("impossible\n");
  pthread_cleanup_pop(0);
  return arg;
}

static void* waiting(void* arg) {
  pthread_mutex_lock(&lock);
  pthread_cleanup_push(release, &lock);
  for (;;) pthread_cond_wait(&never, &lock);
  pthread_cleanup_pop(1);
  return arg;
}

static void* testing(void* arg) {
  int old;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
  usleep(1000);
  pthread_setcancelstate(old, NULL);
  pthread_cleanup_push(clean_up, "the tester");
  for (;;) {
    pthread_testcancel();
    usleep(100);
  }
  pthread_cleanup_pop(0);
  return arg;
}

int main(void) {
  void* (*const bodies[])(void*) = {reading, waiting, testing};
  if (pipe(ends) != 0) return 1;
  for (int i = 0; i < 3; i++) {
    pthread_t t;
    void* value;
    pthread_create(&t, NULL, bodies[i], NULL);
    usleep(500);
    pthread_cancel(t);
    pthread_join(t, &value);
    printf("thread %d cancelled: %d\n", i, value == PTHREAD_CANCELED);
  }
  printf("the lock is free: %d\n", pthread_mutex_trylock(&lock) == 0);
  return 0;
}
