// Both writes hold a spin lock: no race.
#include <pthread.h>

int value;
static pthread_spinlock_t lock;

static void* other(void* unused) {
  pthread_spin_lock(&lock);
  value++;
  pthread_spin_unlock(&lock);
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_spin_init(&lock, 0);
  pthread_create(&thread, 0, other, 0);
  pthread_spin_lock(&lock);
  value++;
  pthread_spin_unlock(&lock);
  pthread_join(thread, 0);
  return 0;
}
