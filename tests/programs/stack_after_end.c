/* Thread that is given a variable on the stack of another thread, which does not wait for it.
 *
 * Bug: parent() waits until its child has started, not until it is done, and returns.
 * Shown by: parent() continues between the child's start and its read of the order. One preemption.
 * Idea: ours.
 * Expected: assertion (SIGABRT): the order is no longer valid. Its memory may have been reused.
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

struct order {
  volatile int number;
};

static sem_t started, done;

static void* child(void* arg) {
  struct order* order = arg;
  sem_post(&started);
  int number = order->number;
  assert(number == 7 && "the order is still there");
  printf("order %d\n", number);
  sem_post(&done);
  return NULL;
}

static void* parent(void* arg) {
  struct order order = {7};
  pthread_t c;
  (void)arg;
  pthread_create(&c, NULL, child, &order);
  pthread_detach(c);
  sem_wait(&started);
  order.number = 0;
  return NULL;
}

int main(void) {
  pthread_t p;
  sem_init(&started, 0, 0);
  sem_init(&done, 0, 0);
  pthread_create(&p, NULL, parent, NULL);
  pthread_join(p, NULL);
  sem_wait(&done);
  return 0;
}
