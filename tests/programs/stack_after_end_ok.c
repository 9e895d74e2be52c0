/* Correct twin of stack_after_end: the parent joins its child before it returns.
 * Expected: passes under every schedule.
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

struct order {
  volatile int number;
};

static sem_t started;

static void* child(void* arg) {
  struct order* order = arg;
  sem_post(&started);
  int number = order->number;
  assert(number == 7 && "the order is still there");
  printf("order %d\n", number);
  return NULL;
}

static void* parent(void* arg) {
  struct order order = {7};
  pthread_t c;
  (void)arg;
  pthread_create(&c, NULL, child, &order);
  sem_wait(&started);
  pthread_join(c, NULL);
  order.number = 0;
  return NULL;
}

int main(void) {
  pthread_t p;
  sem_init(&started, 0, 0);
  pthread_create(&p, NULL, parent, NULL);
  pthread_join(p, NULL);
  return 0;
}
