/* Correct twin of wrong_lock: both threads use the same lock.
 * Expected: passes under every schedule. Arguments: additions per thread (1).
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t account_lock = PTHREAD_MUTEX_INITIALIZER;
static int total;
static int additions = 1;

static void* adder(void* arg) {
  pthread_mutex_t* lock = arg;
  for (int i = 0; i < additions; i++) {
    pthread_mutex_lock(lock);
    total = total + 1;
    pthread_mutex_unlock(lock);
  }
  return NULL;
}

int main(int argc, char** argv) {
  if (argc > 1) additions = atoi(argv[1]);
  pthread_t a, b;
  pthread_create(&a, NULL, adder, &account_lock);
  pthread_create(&b, NULL, adder, &account_lock);
  pthread_join(a, NULL);
  pthread_join(b, NULL);
  assert(total == 2 * additions && "an addition was lost");
  printf("total %d\n", total);
  return 0;
}
