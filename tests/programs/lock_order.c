/* Transfers in opposite directions, each locking its own account first.
 *
 * Bug: two locks taken in opposite orders.
 * Shown by: one preemption between the two lock operations of a transfer.
 * Idea: the textbook deadlock.
 * Expected: deadlock, a cycle of two threads.
 * Arguments: transfers per thread (1).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct account {
  pthread_mutex_t lock;
  int money;
};

static struct account first = {PTHREAD_MUTEX_INITIALIZER, 100};
static struct account second = {PTHREAD_MUTEX_INITIALIZER, 100};
static int transfers = 1;

static void transfer(struct account* from, struct account* to, int amount) {
  pthread_mutex_lock(&from->lock);
  pthread_mutex_lock(&to->lock);
  from->money -= amount;
  to->money += amount;
  pthread_mutex_unlock(&to->lock);
  pthread_mutex_unlock(&from->lock);
}

static void* forth(void* arg) {
  (void)arg;
  for (int i = 0; i < transfers; i++) transfer(&first, &second, 10);
  return NULL;
}

static void* back(void* arg) {
  (void)arg;
  for (int i = 0; i < transfers; i++) transfer(&second, &first, 5);
  return NULL;
}

int main(int argc, char** argv) {
  if (argc > 1) transfers = atoi(argv[1]);
  pthread_t a, b;
  pthread_create(&a, NULL, forth, NULL);
  pthread_create(&b, NULL, back, NULL);
  pthread_join(a, NULL);
  pthread_join(b, NULL);
  printf("first %d second %d\n", first.money, second.money);
  return 0;
}
