/* Connection that two threads close.
 *
 * Bug: taking the buffer and resetting the pointer to it are two steps.
 * Shown by: both threads take the buffer before either resets the pointer. One preemption.
 * Idea: ours, after the double-close bugs of network servers.
 * Expected: memory error (double free).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct connection {
  char* volatile buffer;
  int closed_by;
};

static struct connection connection;

static void* closer(void* arg) {
  char* mine = connection.buffer;
  connection.buffer = NULL;
  if (mine != NULL) {
    free(mine);
    connection.closed_by = (int)(long)arg;
  }
  return NULL;
}

int main(void) {
  pthread_t a, b;
  connection.buffer = malloc(100);
  pthread_create(&a, NULL, closer, (void*)1L);
  pthread_create(&b, NULL, closer, (void*)2L);
  pthread_join(a, NULL);
  pthread_join(b, NULL);
  printf("closed by %d\n", connection.closed_by);
  return 0;
}
