/* Connection that is released when its transaction is done.
 *
 * Bug: the thread that ends the transaction frees the connection; the socket thread may still count bytes in it.
 * Shown by: the transaction ends before the socket thread has counted.
 * Idea: HttpConnection, an order violation among the Mozilla extracts of the HaPSet paper; the code is ours.
 * Expected: memory error (use after free).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "unrelated.h"

struct connection {
  long received;
};

static struct connection* connection;

static void* socket_thread(void* arg) {
  struct connection* mine = arg;
  mine->received += 100; /* bug: the connection may be released */
  unrelated_work();
  return NULL;
}

static void* end_transaction(void* arg) {
  (void)arg;
  unrelated_work();
  free(connection);
  return NULL;
}

int main(void) {
  pthread_t s, e;
  connection = calloc(1, sizeof *connection);
  pthread_create(&s, NULL, socket_thread, connection);
  pthread_create(&e, NULL, end_transaction, NULL);
  pthread_join(s, NULL);
  pthread_join(e, NULL);
  printf("total %d\n", unrelated_total);
  return 0;
}
