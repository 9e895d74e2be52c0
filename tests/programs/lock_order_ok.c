/* Correct twin of lock_order: both locks are always taken in the order of their addresses.
 * Expected: passes under every schedule. Arguments: transfers per thread (1).
 */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
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
  int in_order = (uintptr_t)from < (uintptr_t)to;
  struct account* low = in_order ? from : to;
  struct account* high = in_order ? to : from;
  pthread_mutex_lock(&low->lock);
  pthread_mutex_lock(&high->lock);
  from->money -= amount;
  to->money += amount;
  pthread_mutex_unlock(&high->lock);
  pthread_mutex_unlock(&low->lock);
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
  assert(first.money + second.money == 200);
  printf("first %d second %d\n", first.money, second.money);
  return 0;
}
