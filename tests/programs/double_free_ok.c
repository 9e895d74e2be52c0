/* Correct twin of double_free: taking the buffer and resetting the pointer to it are one step.
 * Expected: passes under every schedule.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct connection {
  char* buffer;
  int closed_by;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct connection connection;

static void* closer(void* arg) {
  pthread_mutex_lock(&lock);
  char* mine = connection.buffer;
  connection.buffer = NULL;
  pthread_mutex_unlock(&lock);
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
  printf("closed %d\n", connection.closed_by > 0);
  return 0;
}
