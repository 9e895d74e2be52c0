// Starts a child, and another child that executes a program.
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int generation;

static int child(void) {
  generation++;
  return 3;
}

static int wait_for(pid_t pid) {
  int status = 0;
  waitpid(pid, &status, 0);
  return WEXITSTATUS(status);
}

int main(int argc, char** argv) {
  if (argc > 1) return 4;
  pid_t pid = fork();
  if (pid == 0) _exit(child());
  int first = wait_for(pid);
  pid = vfork();
  if (pid == 0) {
    execl(argv[0], argv[0], "again", NULL);
    _exit(9);
  }
  int second = wait_for(pid);
  generation += first + second;
  return generation == 7 ? 0 : 1;
}
