/* Forks children that answer over a pipe; prints in the order of arrival and of death. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
  enum { kChildren = 4 };
  int ends[2], status, number;
  if (pipe(ends) != 0) return 1;
  for (int i = 0; i < kChildren; i++) {
    fflush(stdout);
    pid_t child = fork();
    if (child < 0) return 1;
    if (child == 0) {
      for (int j = 0; j < 3; j++)
        if (write(ends[1], &i, sizeof i) != sizeof i) _exit(1);
      _exit(10 + i);
    }
    printf("forked %d\n", child);
  }
  close(ends[1]);
  while (read(ends[0], &number, sizeof number) == sizeof number) printf("heard from %d\n", number);
  for (int i = 0; i < kChildren; i++) {
    pid_t ended = wait(&status);
    printf("child %d ended with %d\n", ended, WEXITSTATUS(status));
  }
  return 0;
}
