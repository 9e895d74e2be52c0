// A thread that has ended and is never joined: a leak.
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

static sem_t ended;

static void* other(void* unused) {
  sem_post(&ended);
  return unused;
}

int main(void) {
  pthread_t thread;
  sem_init(&ended, 0, 0);
  pthread_create(&thread, 0, other, 0);
  sem_wait(&ended);
  usleep(200000);
  return 0;
}
