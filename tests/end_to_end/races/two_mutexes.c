// Each thread holds a different mutex: a race.
#include <pthread.h>

int value;
static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, two = PTHREAD_MUTEX_INITIALIZER;

static void* other(void* unused) {
  pthread_mutex_lock(&two);
  value = 2;
  pthread_mutex_unlock(&two);
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, other, 0);
  pthread_mutex_lock(&one);
  value = 1;
  pthread_mutex_unlock(&one);
  pthread_join(thread, 0);
  return 0;
}
