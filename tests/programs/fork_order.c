/* A child reports through a pipe that it is ready, and only then stores its result in shared memory.
 * Expected: the parent reads too early, the program exits with status 1.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
  int* result = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  int ends[2];
  if (result == MAP_FAILED || pipe(ends) != 0) abort();
  pid_t child = fork();
  if (child == 0) {
    if (write(ends[1], "r", 1) != 1) _exit(2);
    *result = 42;
    _exit(0);
  }
  char ready = 0;
  if (read(ends[0], &ready, 1) != 1) abort();
  int seen = *result;
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0) abort();
  printf("the result is %d\n", seen);
  return seen == 42 ? 0 : 1;
}
