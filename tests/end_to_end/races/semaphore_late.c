// Main writes after the post: a race.
#include <pthread.h>
#include <semaphore.h>

int value;
static sem_t given;

static void* other(void* unused) {
  sem_wait(&given);
  value = 2;
  return unused;
}

int main(void) {
  pthread_t thread;
  sem_init(&given, 0, 0);
  pthread_create(&thread, 0, other, 0);
  sem_post(&given);
  value = 1;
  pthread_join(thread, 0);
  return 0;
}
