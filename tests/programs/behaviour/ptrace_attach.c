/* Attaching to a process that runs, one that sleeps in a call, and one that is not a child; detaching from each. */
#define _GNU_SOURCE
#include "ptrace_check.h"

static void attach_and_detach(pid_t target) {
  CHECK(ptrace(PTRACE_ATTACH, target, NULL, NULL) == 0);
  CHECK(stop_of(target) == SIGSTOP);
  FAILS(ptrace(PTRACE_ATTACH, target, NULL, NULL), EPERM);
  CHECK(registers_of(target).rip != 0);
  CHECK(ptrace(PTRACE_DETACH, target, NULL, NULL) == 0);
  FAILS(ptrace(PTRACE_DETACH, target, NULL, NULL), ESRCH);
}

int main(void) {
  int pipe_of[2];
  char byte = 0;
  CHECK(pipe(pipe_of) == 0);
  pid_t reader = fork();
  if (reader == 0) _exit(read(pipe_of[0], &byte, 1) == 1 && byte == 'x' ? 0 : 1);
  attach_and_detach(reader);
  attach_and_detach(reader);

  volatile int* go = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(go != MAP_FAILED);
  pid_t runner = fork();
  if (runner == 0) {
    while (*go == 0) getppid();
    _exit(0);
  }
  attach_and_detach(runner);

  pid_t middle = fork();
  if (middle == 0) {
    attach_and_detach(reader); /* reader is its sibling */
    _exit(0);
  }
  expect_success(middle);
  *go = 1;
  CHECK(write(pipe_of[1], "x", 1) == 1);
  expect_success(reader);
  expect_success(runner);
  FAILS(ptrace(PTRACE_ATTACH, getpid(), NULL, NULL), EPERM);
  FAILS(ptrace(PTRACE_ATTACH, reader, NULL, NULL), ESRCH);
  puts("attached");
  return 0;
}
