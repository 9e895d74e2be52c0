/* Three processes: the first starts a second, which starts a third. With an argument, the third one calls abort(). */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int generation;

static void last_of_all(int dies) {
  if (dies) abort();
  printf("the last one is done\n");
}

static int wait_for_child(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) || WEXITSTATUS(status) != 0;
}

static int live(int dies) {
  if (generation == 2) {
    last_of_all(dies);
    return 0;
  }
  const pid_t child = fork();
  if (child == 0) {
    generation++;
    exit(live(dies));
  }
  return wait_for_child(child) ? generation + 3 : 0;
}

int main(int argc, char** argv) {
  (void)argv;
  return live(argc > 1);
}
