// A mutex that nobody holds is unlocked.
#include <pthread.h>

int main(void) {
  static pthread_mutex_t lock;
  pthread_mutex_init(&lock, 0);
  pthread_mutex_unlock(&lock);
  return 0;
}
