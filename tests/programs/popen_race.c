/* A program that starts itself by popen and reads the other process's result. Threads of that process
 * count without a lock.
 * Expected: a count is lost, the program exits with status 1.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
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
  if (argc > 1) {
    printf("%d\n", run_threads());
    return 0;
  }
  char program[4096] = {0}, command[4200];
  if (readlink("/proc/self/exe", program, sizeof program - 1) < 0) abort();
  snprintf(command, sizeof command, "%s inner", program);
  FILE* output = popen(command, "r");
  int lost = -1;
  if (output == NULL || fscanf(output, "%d", &lost) != 1 || pclose(output) != 0) abort();
  return lost;
}
