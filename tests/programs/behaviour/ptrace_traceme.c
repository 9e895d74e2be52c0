/* A child asks to be traced and stops; its parent reads and writes its memory and resumes it. */
#define _GNU_SOURCE
#include "ptrace_check.h"

static volatile long word = 0x1122334455667788;

int main(void) {
  pid_t child = fork();
  if (child == 0) {
    CHECK(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0);
    FAILS(ptrace(PTRACE_TRACEME, 0, NULL, NULL), EPERM);
    raise(SIGSTOP);
    _exit(word == 0x123456789abcdef0 ? 0 : 1);
  }
  CHECK(stop_of(child) == SIGSTOP);
  CHECK(ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_EXITKILL) == 0);
  errno = 0;
  CHECK(ptrace(PTRACE_PEEKDATA, child, &word, NULL) == 0x1122334455667788 && errno == 0);
  CHECK(ptrace(PTRACE_POKEDATA, child, &word, 0x123456789abcdef0) == 0);
  FAILS(ptrace(PTRACE_PEEKDATA, child, 8, NULL), EIO);
  FAILS(ptrace(PTRACE_POKEDATA, child, 8, 1), EIO);
  struct user_regs_struct registers;
  CHECK(ptrace(PTRACE_GETREGS, child, NULL, &registers) == 0);
  CHECK(registers.cs == 0x33 && registers.ss == 0x2b && registers.rip != 0);
  CHECK(ptrace(PTRACE_PEEKUSER, child, offsetof(struct user, regs.rip), NULL) == (long)registers.rip);
  FAILS(ptrace(PTRACE_PEEKUSER, child, 3, NULL), EIO);
  siginfo_t info;
  CHECK(ptrace(PTRACE_GETSIGINFO, child, NULL, &info) == 0);
  CHECK(info.si_signo == SIGSTOP && info.si_code == SI_TKILL && info.si_pid == child);
  go_on(PTRACE_CONT, child, 0);
  FAILS(ptrace(PTRACE_CONT, getpid(), NULL, NULL), ESRCH);
  expect_success(child);
  FAILS(ptrace(PTRACE_CONT, child, NULL, NULL), ESRCH);
  puts("traced");
  return 0;
}
