/* Forks and executes itself with given arguments and environment; also replaces itself. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char** argv, char** envp) {
  if (argc > 1) {
    printf("%s: pid %d, first of the environment %s\n", argv[1], getpid(), envp[0] ? envp[0] : "none");
    fflush(stdout);
    if (strcmp(argv[1], "child") == 0) {
      char* next[] = {argv[0], "grandchild", NULL};
      char* environment[] = {"STEP=2", NULL};
      execve("/proc/self/exe", next, environment);
      return 3;
    }
    return 7;
  }
  char* child_argv[] = {argv[0], "child", NULL};
  char* child_env[] = {"STEP=1", NULL};
  int status;
  pid_t child = fork();
  if (child == 0) {
    execve("/proc/self/exe", child_argv, child_env);
    _exit(9);
  }
  waitpid(child, &status, 0);
  printf("child status %d\n", WEXITSTATUS(status));
  return WEXITSTATUS(status) == 7 ? 0 : 1;
}
