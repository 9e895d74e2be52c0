/* Pointer that is checked, then used, while another thread resets it.
 *
 * Bug: the check and the use each read the shared pointer.
 * Shown by: the pointer is reset between them. One preemption.
 * Idea: the thread-safety bug of MySQL's proc_info, which every study of atomicity violations has.
 * Expected: null pointer dereference (SIGSEGV).
 * Arguments: uses (1).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct session {
  int requests;
};

static struct session only = {0};
static struct session* volatile session = &only;
static int uses = 1;

static void* worker(void* arg) {
  (void)arg;
  for (int i = 0; i < uses; i++)
    if (session) session->requests++;
  return NULL;
}

static void* closer(void* arg) {
  (void)arg;
  session = NULL;
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
