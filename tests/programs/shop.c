/* Shop that sells what it does not have.
 *
 * Bug: a customer asks for the stock in one locked call and buys in another.
 * Shown by: two customers both see the last item in stock. A supplier sometimes refills in between.
 * Idea: Shop of the Falcon paper.
 * Expected: assertion in buy() (SIGABRT).
 * Arguments: customers (2), items at the start (1).
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int stock = 1, sold;

static int in_stock(void) {
  pthread_mutex_lock(&lock);
  int there = stock > 0;
  pthread_mutex_unlock(&lock);
  return there;
}

static void buy(void) {
  pthread_mutex_lock(&lock);
  stock--;
  sold++;
  assert(stock >= 0 && "sold more than there was");
  pthread_mutex_unlock(&lock);
}

static void* customer(void* arg) {
  (void)arg;
  if (in_stock()) buy();
  return NULL;
}

static void* supplier(void* arg) {
  (void)arg;
  pthread_mutex_lock(&lock);
  stock++;
  pthread_mutex_unlock(&lock);
  return NULL;
}

int main(int argc, char** argv) {
  int customers = argc > 1 ? atoi(argv[1]) : 2;
  if (argc > 2) stock = atoi(argv[2]);
  pthread_t* ids = calloc((size_t)customers + 1, sizeof *ids);
  for (int i = 0; i < customers; i++) pthread_create(&ids[i], NULL, customer, NULL);
  pthread_create(&ids[customers], NULL, supplier, NULL);
  for (int i = 0; i <= customers; i++) pthread_join(ids[i], NULL);
  free(ids);
  printf("sold %d left %d\n", sold, stock);
  return 0;
}
