/* Requests that ptrace refuses, and for which processes. */
#define _GNU_SOURCE
#include <sys/prctl.h>
#include "ptrace_check.h"

/* Tracing processes of other users, or processes that are not dumpable, needs privileges. */
static void other_users(void) {
  if (geteuid() != 0) return;
  const uid_t nobody = 65534;
  int ready[2];
  char byte;
  CHECK(pipe(ready) == 0);
  pid_t hidden = fork();
  if (hidden == 0) {
    CHECK(setresgid(nobody, nobody, nobody) == 0 && setresuid(nobody, nobody, nobody) == 0);
    CHECK(prctl(PR_SET_DUMPABLE, 0) == 0 && write(ready[1], "r", 1) == 1);
    for (;;) pause();
  }
  CHECK(read(ready[0], &byte, 1) == 1);
  pid_t other = fork();
  if (other == 0) {
    CHECK(setresgid(nobody, nobody, nobody) == 0 && setresuid(nobody, nobody, nobody) == 0);
    FAILS(ptrace(PTRACE_SEIZE, getppid(), NULL, NULL), EPERM);
    FAILS(ptrace(PTRACE_ATTACH, hidden, NULL, NULL), EPERM);
    _exit(0);
  }
  expect_success(other);
  kill(hidden, SIGKILL);
  CHECK(WTERMSIG(status_of(hidden)) == SIGKILL);
}

int main(void) {
  struct user_regs_struct r;
  FAILS(ptrace(PTRACE_ATTACH, 1 << 22, NULL, NULL), ESRCH);
  FAILS(ptrace(PTRACE_ATTACH, 0, NULL, NULL), ESRCH);
  FAILS(ptrace(PTRACE_ATTACH, getpid(), NULL, NULL), EPERM);
  FAILS(ptrace(PTRACE_CONT, getppid(), NULL, NULL), ESRCH);
  pid_t child = fork_traced();
  if (child == 0) {
    raise(SIGUSR1);
    _exit(0);
  }
  pid_t other = fork();
  if (other == 0) { /* a process that is not the tracer */
    FAILS(ptrace(PTRACE_GETREGS, child, NULL, &r), ESRCH);
    FAILS(ptrace(PTRACE_ATTACH, child, NULL, NULL), EPERM);
    FAILS(ptrace(PTRACE_SEIZE, child, NULL, NULL), EPERM);
    _exit(0);
  }
  expect_success(other);
  FAILS(ptrace(12345, child, NULL, NULL), EIO);
  FAILS(ptrace(PTRACE_CONT, child, NULL, 65), EIO);
  FAILS(ptrace(PTRACE_POKEUSER, child, 304, 0), EIO); /* u_tsize, of core files */
  FAILS(ptrace(PTRACE_POKEUSER, child, 912, 0), EIO);
  CHECK(ptrace(PTRACE_PEEKUSER, child, 920, NULL) == 0);
  FAILS(ptrace(PTRACE_PEEKUSER, child, 928, NULL), EIO);
  char permissions[8];
  struct iovec ports = {permissions, sizeof permissions};
  FAILS(ptrace(PTRACE_GETREGSET, child, 0x201 /* NT_386_IOPERM */, &ports), ENXIO);
  FAILS(ptrace(PTRACE_SETREGSET, child, 0x201, &ports), EOPNOTSUPP);
  FAILS(ptrace(PTRACE_GETREGS, child, NULL, 8), EFAULT);
  FAILS(ptrace(PTRACE_SETREGS, child, NULL, 8), EFAULT);
  r = registers_of(child);
  struct user_regs_struct odd = r;
  odd.cs = 0;
  FAILS(ptrace(PTRACE_SETREGS, child, NULL, &odd), EIO);
  odd = r;
  odd.fs_base = 1UL << 63;
  FAILS(ptrace(PTRACE_SETREGS, child, NULL, &odd), EIO);
  odd = r;
  odd.eflags |= 1UL << 19; /* virtual interrupts: a tracer may not set it */
  set_registers(child, odd);
  CHECK(registers_of(child).eflags == r.eflags);
  struct iovec vector = {&r, sizeof r};
  FAILS(ptrace(PTRACE_GETREGSET, child, 0x7777, &vector), EINVAL);
  CHECK(ptrace(PTRACE_POKEUSER, child, offsetof(struct user, u_debugreg[7]), 0) == 0);
  CHECK(ptrace(PTRACE_PEEKUSER, child, offsetof(struct user, u_debugreg[0]), NULL) == 0);
  FAILS(ptrace(PTRACE_POKEUSER, child, sizeof(struct user), 0), EIO);
  uint64_t mask;
  FAILS(ptrace(PTRACE_GETSIGMASK, child, 4, &mask), EINVAL);
  go_on(PTRACE_CONT, child, 0);
  int status;
  CHECK(waitpid(child, &status, 0) == child && WSTOPSIG(status) == SIGUSR1);
  CHECK(ptrace(PTRACE_DETACH, child, NULL, 0) == 0);
  FAILS(ptrace(PTRACE_CONT, child, NULL, NULL), ESRCH);
  expect_success(child);
  other_users();
  puts("refused");
  return 0;
}
