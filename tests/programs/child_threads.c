/* A child starts threads that count without a lock. Its exit status says whether a count was lost.
 * Expected: a count is lost, the program exits with status 3.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int count;

static void* work(void* arg) {
  count++;
  return arg;
}

static int run_threads(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  return count == 2 ? 0 : 1;
}

int main(void) {
  pid_t child = fork();
  if (child < 0) abort();
  if (child == 0) _exit(run_threads());
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) abort();
  printf("the child ended with %d\n", WEXITSTATUS(status));
  return WEXITSTATUS(status) == 0 ? 0 : 3;
}
