/* A program that executes itself in a child, as a shell executes a program, and exits with the child's status. The
 * child's threads count without a lock. Expected: a count is lost, the program exits with status 1.
 */
#include <pthread.h>
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
  (void)argv;
  if (argc > 1) return run_threads();
  pid_t child = fork();
  if (child < 0) abort();
  if (child == 0) {
    execl("/proc/self/exe", "executed_race", "inner", (char*)NULL);
    _exit(127);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child) abort();
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}
