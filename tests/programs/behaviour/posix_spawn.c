/* posix_spawn with a redirected output. */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc > 1) {
    printf("hello from %s\n", argv[1]);
    return 6;
  }
  int ends[2], status;
  pid_t child;
  char line[100];
  char* child_argv[] = {argv[0], "the spawned one", NULL};
  char* child_env[] = {NULL};
  posix_spawn_file_actions_t actions;
  if (pipe(ends) != 0) return 1;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  if (posix_spawn(&child, "/proc/self/exe", &actions, NULL, child_argv, child_env) != 0) return 1;
  close(ends[1]);
  ssize_t got = read(ends[0], line, sizeof line);
  if (got < 0) return 1;
  waitpid(child, &status, 0);
  printf("child %d wrote '%.*s' status %d\n", child, (int)strcspn(line, "\n"), line, WEXITSTATUS(status));
  posix_spawn_file_actions_destroy(&actions);
  return 0;
}
