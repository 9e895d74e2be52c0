// Both writes hold the same mutex: no race.
#include <pthread.h>

int value;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void* other(void* unused) {
  pthread_mutex_lock(&lock);
  value++;
  pthread_mutex_unlock(&lock);
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, other, 0);
  pthread_mutex_lock(&lock);
  value++;
  pthread_mutex_unlock(&lock);
  pthread_join(thread, 0);
  return 0;
}
