/* A child starts threads that count under a lock, while its parent has threads, too.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void* work(void* arg) {
  pthread_mutex_lock(&lock);
  count++;
  pthread_mutex_unlock(&lock);
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
  if (run_threads() != 0) abort();
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) abort();
  printf("the child ended with %d\n", WEXITSTATUS(status));
  return WEXITSTATUS(status) == 0 ? 0 : 3;
}
