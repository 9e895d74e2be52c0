/* A tracer that ends: its tracees go on, or die with it (PTRACE_O_EXITKILL). A tracer that is not the parent learns of
 * the end of its tracee, and the parent too. */
#define _GNU_SOURCE
#include "ptrace_check.h"

static volatile int* words;

static pid_t start_waiter(void) {
  words[0] = 0;
  pid_t child = fork();
  if (child == 0) {
    words[0] = 1;
    while (words[1] == 0) usleep(1000);
    _exit(4);
  }
  while (words[0] == 0) usleep(1000);
  return child;
}

int main(void) {
  words = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(words != MAP_FAILED);

  pid_t child = start_waiter();
  pid_t tracer = fork();
  if (tracer == 0) {
    CHECK(ptrace(PTRACE_ATTACH, child, NULL, NULL) == 0);
    CHECK(stop_of(child) == SIGSTOP);
    _exit(0); /* the tracee stands still, and goes on */
  }
  expect_success(tracer);
  words[1] = 1;
  int status = status_of(child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 4);

  words[1] = 0;
  child = start_waiter();
  tracer = fork();
  if (tracer == 0) {
    CHECK(ptrace(PTRACE_SEIZE, child, NULL, PTRACE_O_EXITKILL) == 0);
    _exit(0);
  }
  expect_success(tracer);
  status = status_of(child);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);

  child = start_waiter();
  tracer = fork();
  if (tracer == 0) {
    CHECK(ptrace(PTRACE_ATTACH, child, NULL, NULL) == 0);
    CHECK(stop_of(child) == SIGSTOP);
    go_on(PTRACE_CONT, child, 0);
    words[1] = 1;
    CHECK(waitpid(child, &status, __WALL) == child && WIFEXITED(status) && WEXITSTATUS(status) == 4);
    FAILS(waitpid(child, &status, __WALL), ECHILD);
    _exit(0);
  }
  expect_success(tracer);
  status = status_of(child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 4);

  /* Killed while it stands still. */
  words[1] = 0;
  child = start_waiter();
  CHECK(ptrace(PTRACE_ATTACH, child, NULL, NULL) == 0);
  CHECK(stop_of(child) == SIGSTOP);
  CHECK(ptrace(PTRACE_KILL, child, NULL, NULL) == 0);
  status = status_of(child);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  puts("ended");
  return 0;
}
