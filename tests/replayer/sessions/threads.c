// Threads that take turns, with locks and thread-local storage.
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t shelf = PTHREAD_RWLOCK_INITIALIZER;
static sem_t turns[3];
static sem_t started;
static sem_t tickets;
int counter;
__thread int mine = 10;
__thread char name[8] = "thread";

static int add(int amount) {
  pthread_mutex_lock(&lock);
  counter += amount;
  mine++;
  pthread_mutex_unlock(&lock);
  return mine;
}

static void* work(void* argument) {
  int number = (int)(long)argument;
  mine = number * 100;
  name[0] = 'A' + number;
  sem_post(&started);
  sem_wait(&turns[number]);
  add(number);
  pthread_rwlock_wrlock(&shelf);
  counter++;
  pthread_rwlock_unlock(&shelf);
  sem_post(&tickets);
  if (number < 2) sem_post(&turns[number + 1]);
  return (void*)(long)mine;
}

int main(void) {
  pthread_t threads[2];
  long sum = 0;
  sem_init(&tickets, 0, 0);
  for (int i = 0; i < 3; i++) sem_init(&turns[i], 0, 0);
  sem_init(&started, 0, 0);
  for (long i = 0; i < 2; i++) {
    pthread_create(&threads[i], NULL, work, (void*)(i + 1));
    sem_wait(&started);
  }
  sem_post(&turns[1]);
  sem_wait(&tickets);
  sem_wait(&tickets);
  for (int i = 0; i < 2; i++) {
    void* result;
    pthread_join(threads[i], &result);
    sum += (long)result;
  }
  add(1);
  return counter == 6 && sum == 302 ? 0 : 1;
}
