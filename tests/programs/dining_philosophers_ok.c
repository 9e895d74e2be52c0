/* Correct twin of dining_philosophers: each takes the fork with the lower number first.
 * Expected: passes under every schedule. Arguments: philosophers (3), meals each (1).
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { kMax = 64 };

static pthread_mutex_t forks[kMax];
static int philosophers = 3, meals = 1;
static int eaten[kMax];

static void* philosopher(void* arg) {
  int me = (int)(long)arg, next = (me + 1) % philosophers;
  pthread_mutex_t* first = &forks[me < next ? me : next];
  pthread_mutex_t* second = &forks[me < next ? next : me];
  for (int i = 0; i < meals; i++) {
    pthread_mutex_lock(first);
    pthread_mutex_lock(second);
    eaten[me]++;
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
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
  assert(total == philosophers * meals);
  printf("meals %d\n", total);
  return 0;
}
