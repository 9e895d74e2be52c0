// A mutex is destroyed while it is held.
#include <pthread.h>

int main(void) {
  static pthread_mutex_t lock;
  pthread_mutex_init(&lock, 0);
  pthread_mutex_lock(&lock);
  pthread_mutex_destroy(&lock);
  return 0;
}
