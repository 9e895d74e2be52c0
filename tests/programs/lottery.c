/* Lottery that gives two customers the same ticket.
 *
 * Bug: the generator's state is read in one locked section and advanced in another.
 * Shown by: two customers draw from the same state. One preemption.
 * Idea: Lottery of the Falcon paper.
 * Expected: message and exit status 1.
 * Arguments: customers (2).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned state = 12345;

static unsigned draw(void) {
  pthread_mutex_lock(&lock);
  unsigned number = state * 1103515245u + 12345u;
  pthread_mutex_unlock(&lock);

  pthread_mutex_lock(&lock);
  state = number;
  pthread_mutex_unlock(&lock);
  return number >> 8;
}

static void* customer(void* arg) {
  *(unsigned*)arg = draw();
  return NULL;
}

int main(int argc, char** argv) {
  int customers = argc > 1 ? atoi(argv[1]) : 2;
  pthread_t* ids = calloc((size_t)customers, sizeof *ids);
  unsigned* tickets = calloc((size_t)customers, sizeof *tickets);
  for (int i = 0; i < customers; i++) pthread_create(&ids[i], NULL, customer, &tickets[i]);
  for (int i = 0; i < customers; i++) pthread_join(ids[i], NULL);
  for (int i = 0; i < customers; i++) {
    for (int j = 0; j < i; j++) {
      if (tickets[i] == tickets[j]) {
        fprintf(stderr, "customers %d and %d both hold ticket %u\n", j, i, tickets[i]);
        return 1;
      }
    }
  }
  for (int i = 0; i < customers; i++) printf("customer %d ticket %u\n", i, tickets[i]);
  free(ids);
  free(tickets);
  return 0;
}
