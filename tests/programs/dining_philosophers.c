/* Dining philosophers, each of whom takes the left fork first.
 *
 * Bug: the forks are locked in a circle.
 * Shown by: every philosopher holds the left fork and waits for the right one. One preemption fewer than philosophers.
 * Idea: Dijkstra's classic; Philo of the Falcon paper.
 * Expected: deadlock, a cycle of all philosophers.
 * Arguments: philosophers (3), meals each (1).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { kMax = 64 };

static pthread_mutex_t forks[kMax];
static int philosophers = 3, meals = 1;
static int eaten[kMax];

static void* philosopher(void* arg) {
  int me = (int)(long)arg;
  pthread_mutex_t* left = &forks[me];
  pthread_mutex_t* right = &forks[(me + 1) % philosophers];
  for (int i = 0; i < meals; i++) {
    pthread_mutex_lock(left);
    pthread_mutex_lock(right);
    eaten[me]++;
    pthread_mutex_unlock(right);
    pthread_mutex_unlock(left);
  }
  return NULL;
}

int main(int argc, char** argv) {
  if (argc > 1) philosophers = atoi(argv[1]);
  if (argc > 2) meals = atoi(argv[2]);
  if (philosophers < 2 || philosophers > kMax) return 2;
  pthread_t ids[kMax];
  int total = 0;
  for (int i = 0; i < philosophers; i++) pthread_mutex_init(&forks[i], NULL);
  for (long i = 0; i < philosophers; i++) pthread_create(&ids[i], NULL, philosopher, (void*)i);
  for (int i = 0; i < philosophers; i++) {
    pthread_join(ids[i], NULL);
    total += eaten[i];
  }
  printf("meals %d\n", total);
  return 0;
}
