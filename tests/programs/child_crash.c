/* A child whose threads hand over a pointer that one of them clears; the parent turns its death into an exit status, as
 * shells do.
 * Expected: the child dies of SIGSEGV, the program exits with status 139.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int value = 1;
static int* volatile current = &value;

static void* clear(void* arg) {
  current = NULL;
  return arg;
}

static void* use(void* arg) {
  if (current != NULL) *current = 2;
  return arg;
}

static void run_threads(void) {
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, use, NULL);
  pthread_create(&threads[1], NULL, clear, NULL);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}

int main(void) {
  pid_t child = fork();
  if (child < 0) abort();
  if (child == 0) {
    run_threads();
    _exit(0);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child) abort();
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
