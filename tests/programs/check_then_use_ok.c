/* Correct twin of check_then_use: check and use hold the lock under which the pointer is reset.
 * Expected: passes under every schedule. Arguments: uses (1).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct session {
  int requests;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct session only = {0};
static struct session* session = &only;
static int uses = 1;

static void* worker(void* arg) {
  (void)arg;
  for (int i = 0; i < uses; i++) {
    pthread_mutex_lock(&lock);
    if (session) session->requests++;
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

static void* closer(void* arg) {
  (void)arg;
  pthread_mutex_lock(&lock);
  session = NULL;
  pthread_mutex_unlock(&lock);
  return NULL;
}

int main(int argc, char** argv) {
  if (argc > 1) uses = atoi(argv[1]);
  pthread_t w, c;
  pthread_create(&w, NULL, worker, NULL);
  pthread_create(&c, NULL, closer, NULL);
  pthread_join(w, NULL);
  pthread_join(c, NULL);
  printf("requests %d\n", only.requests);
  return 0;
}
