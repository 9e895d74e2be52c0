// The second lock is only tried: no inversion.
#include <pthread.h>

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, two = PTHREAD_MUTEX_INITIALIZER;

int main(void) {
  pthread_mutex_lock(&one);
  pthread_mutex_lock(&two);
  pthread_mutex_unlock(&two);
  pthread_mutex_unlock(&one);
  pthread_mutex_lock(&two);
  if (pthread_mutex_trylock(&one) == 0) pthread_mutex_unlock(&one);
  pthread_mutex_unlock(&two);
  return 0;
}
