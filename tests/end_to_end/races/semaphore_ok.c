// The value is handed over with a semaphore: no race.
#include <pthread.h>
#include <semaphore.h>

int value;
static sem_t given;

static void* other(void* unused) {
  sem_wait(&given);
  value++;
  return unused;
}

int main(void) {
  pthread_t thread;
  sem_init(&given, 0, 0);
  pthread_create(&thread, 0, other, 0);
  value = 1;
  sem_post(&given);
  pthread_join(thread, 0);
  return 0;
}
