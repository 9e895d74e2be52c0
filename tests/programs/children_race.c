/* Two children count in shared memory without a lock.
 * Expected: a count is lost, the program exits with status 1.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
  int* count = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (count == MAP_FAILED) abort();
  for (int i = 0; i < 2; i++) {
    pid_t child = fork();
    if (child < 0) abort();
    if (child > 0) continue;
    for (int k = 0; k < 3; k++) (*count)++;
    _exit(0);
  }
  while (wait(NULL) > 0) {
  }
  printf("%d counts of 6\n", *count);
  return *count == 6 ? 0 : 1;
}
