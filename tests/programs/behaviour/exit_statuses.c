/* Exits with the status given as argument. Without one, children exit with several. Tests atexit and buffers too. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void goodbye(void) { printf("goodbye\n"); }

int main(int argc, char** argv) {
  static const int statuses[] = {0, 1, 42, 255, 256};
  if (argc > 1) {
    atexit(goodbye);
    printf("status %s\n", argv[1]);
    return atoi(argv[1]);
  }
  for (unsigned i = 0; i < sizeof statuses / sizeof *statuses; i++) {
    int status;
    pid_t child = fork();
    if (child == 0) _exit(statuses[i]);
    waitpid(child, &status, 0);
    printf("exit(%d): exited %d status %d\n", statuses[i], WIFEXITED(status), WEXITSTATUS(status));
    fflush(stdout);
  }
  return 0;
}
