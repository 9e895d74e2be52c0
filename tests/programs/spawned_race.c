/* A program that starts itself by posix_spawn and exits with that process's status. Its threads
 * count without a lock.
 * Expected: a count is lost, the program exits with status 1.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <spawn.h>
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

int main(int argc, char** argv) {
  if (argc > 1) return run_threads();
  char inner[] = "inner";
  char* arguments[] = {argv[0], inner, NULL};
  pid_t child = 0;
  if (posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments, environ) != 0) abort();
  int status = 0;
  if (waitpid(child, &status, 0) != child) abort();
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}
