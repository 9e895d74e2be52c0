// Both threads write while they hold a lock for reading: a race.
#include <pthread.h>

int value;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void* other(void* unused) {
  pthread_rwlock_rdlock(&lock);
  value = 2;
  pthread_rwlock_unlock(&lock);
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, other, 0);
  pthread_rwlock_rdlock(&lock);
  value = 1;
  pthread_rwlock_unlock(&lock);
  pthread_join(thread, 0);
  return 0;
}
