/* Cache whose cleaner thread can be interrupted before it has a handler for that.
 *
 * Bug: the cleaner announces that it sleeps before it has installed its handler for interruptions.
 * Shown by: the cache's owner changes the interval and interrupts between the two stores. An order violation.
 * Idea: the bug of Cache4j in the Falcon paper.
 * Expected: "unhandled interruption", the program aborts (SIGABRT).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static volatile int sleeping, handler_ready, interrupted;
static volatile int interval = 10;
static int cleaned;

static void* cleaner(void* arg) {
  (void)arg;
  sleeping = 1;
  handler_ready = 1;
  if (interrupted) cleaned++;
  handler_ready = 0;
  sleeping = 0;
  return NULL;
}

static void* owner(void* arg) {
  (void)arg;
  interval = 5;
  if (sleeping) {
    if (!handler_ready && sleeping) {
      fprintf(stderr, "unhandled interruption of the cleaner\n");
      abort();
    }
    interrupted = 1;
  }
  return NULL;
}

int main(void) {
  pthread_t c, o;
  pthread_create(&c, NULL, cleaner, NULL);
  pthread_create(&o, NULL, owner, NULL);
  pthread_join(c, NULL);
  pthread_join(o, NULL);
  printf("interval %d interrupted %d\n", interval, interrupted);
  return 0;
}
