/* A thread repeatedly sleeps while it holds a lock. Another thread wants the lock once, and gets it at some time under
 * any schedule. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int stop;

static void* hog(void* argument) {
  while (!stop) {
    pthread_mutex_lock(&lock);
    usleep(100);
    pthread_mutex_unlock(&lock);
  }
  return argument;
}

int main(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, hog, NULL) != 0) return 1;
  usleep(3000);
  pthread_mutex_lock(&lock);
  pthread_mutex_unlock(&lock);
  stop = 1;
  pthread_join(thread, NULL);
  puts("done");
  return 0;
}
