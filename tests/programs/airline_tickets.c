/* Airline that sells more tickets than it has seats.
 *
 * Bug: a seller checks whether a seat is left and sells it later, with no lock at all.
 * Shown by: two sellers see the last seat free, or two increments of `sold` collide with the third seller's check.
 * Idea: AirlineTickets of the RankChecker and Falcon papers.
 * Expected: message and exit status 1.
 * Arguments: sellers (3), seats (2).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static volatile int sold;
static int seats = 2;

static void* seller(void* arg) {
  int* tickets = arg;
  if (sold < seats) {
    sold = sold + 1;
    *tickets = 1;
  }
  return NULL;
}

int main(int argc, char** argv) {
  int sellers = argc > 1 ? atoi(argv[1]) : 3;
  if (argc > 2) seats = atoi(argv[2]);
  pthread_t* ids = calloc((size_t)sellers, sizeof *ids);
  int* tickets = calloc((size_t)sellers, sizeof *tickets);
  int total = 0;
  for (int i = 0; i < sellers; i++) pthread_create(&ids[i], NULL, seller, &tickets[i]);
  for (int i = 0; i < sellers; i++) {
    pthread_join(ids[i], NULL);
    total += tickets[i];
  }
  free(ids);
  free(tickets);
  if (total > seats) {
    fprintf(stderr, "%d tickets for %d seats\n", total, seats);
    return 1;
  }
  printf("sold %d of %d\n", total, seats);
  return 0;
}
