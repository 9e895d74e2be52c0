/* PTRACE_SYSCALL: stops before and after a call; arguments and results changed, a call cancelled, one made another;
 * PTRACE_SYSEMU: calls that the tracer answers. */
#define _GNU_SOURCE
#include "ptrace_check.h"

enum { kSysgood = SIGTRAP | 0x80 };

static int child_work(void) {
  if (syscall(SYS_getppid) != 4711) return 1;    /* result changed */
  if (syscall(SYS_dup, 1234567) != 42) return 2; /* cancelled */
  if (syscall(SYS_getuid) != getpid()) return 3; /* becomes getpid */
  char buffer[8] = "------";
  int pipe_of[2];
  if (pipe(pipe_of) != 0) return 4;
  if (syscall(SYS_write, pipe_of[1], "abcdef", 6) != 3) return 5; /* its length changed */
  if (read(pipe_of[0], buffer, 6) != 3 || strcmp(buffer, "abc---") != 0) return 6;
  return 0;
}

static int emulated_work(void) { return syscall(SYS_getpgid, 99) == 1234 && syscall(9999, 7) == 7 ? 0 : 1; }

static int detached_work(pid_t parent) { return syscall(SYS_getppid) == parent ? 0 : 1; }

/* Resumes the child until it enters call `number`. Returns its registers. */
static struct user_regs_struct entry_of(pid_t child, long number) {
  for (;;) {
    go_on(PTRACE_SYSCALL, child, 0);
    CHECK(stop_of(child) == kSysgood);
    struct user_regs_struct r = registers_of(child);
    CHECK((long)r.rax == -ENOSYS);
    if ((long)r.orig_rax == number) return r;
    go_on(PTRACE_SYSCALL, child, 0);
    CHECK(stop_of(child) == kSysgood);
  }
}

static struct user_regs_struct exit_of(pid_t child) {
  go_on(PTRACE_SYSCALL, child, 0);
  CHECK(stop_of(child) == kSysgood);
  return registers_of(child);
}

int main(void) {
  pid_t child = fork_traced();
  if (child == 0) _exit(child_work());
  CHECK(ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL) == 0);
  FAILS(ptrace(PTRACE_SETOPTIONS, child, NULL, 1 << 30), EINVAL);

  struct user_regs_struct r = entry_of(child, SYS_getppid);
  struct __ptrace_syscall_info info;
  CHECK(ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof info, &info) == 80);
  CHECK(info.op == PTRACE_SYSCALL_INFO_ENTRY && info.entry.nr == SYS_getppid && info.instruction_pointer == r.rip);
  siginfo_t signal = siginfo_of(child);
  CHECK(signal.si_signo == SIGTRAP && signal.si_code == kSysgood && signal.si_pid == child);
  r = exit_of(child);
  CHECK((long)r.rax == getpid() && r.orig_rax == SYS_getppid);
  CHECK(ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof info, &info) == 33);
  CHECK(info.op == PTRACE_SYSCALL_INFO_EXIT && info.exit.rval == getpid() && info.exit.is_error == 0);
  r.rax = 4711;
  set_registers(child, r);

  r = entry_of(child, SYS_dup);
  CHECK(r.rdi == 1234567);
  r.orig_rax = -1;
  set_registers(child, r);
  r = exit_of(child);
  CHECK((long)r.rax == -ENOSYS);
  r.rax = 42;
  set_registers(child, r);

  r = entry_of(child, SYS_getuid);
  r.orig_rax = SYS_getpid;
  set_registers(child, r);
  r = exit_of(child);
  CHECK((long)r.rax == child);

  r = entry_of(child, SYS_write);
  CHECK(r.rdx == 6);
  r.rdx = 3;
  set_registers(child, r);
  r = exit_of(child);
  CHECK((long)r.rax == 3);

  r = entry_of(child, SYS_exit_group);
  CHECK(r.rdi == 0);
  go_on(PTRACE_SYSCALL, child, 0);
  expect_success(child);

  const pid_t tracer = getpid();
  child = fork_traced();
  if (child == 0) _exit(detached_work(tracer));
  CHECK(ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL) == 0);
  entry_of(child, SYS_getppid);
  CHECK(ptrace(PTRACE_DETACH, child, NULL, NULL) == 0); /* the call is still executed */
  expect_success(child);

  child = fork_traced();
  if (child == 0) _exit(emulated_work());
  long answers[2] = {1234, 7}, numbers[2] = {SYS_getpgid, 9999};
  for (int i = 0; i < 2;) {
    go_on(PTRACE_SYSEMU, child, 0);
    CHECK(stop_of(child) == SIGTRAP);
    r = registers_of(child);
    if ((long)r.orig_rax == SYS_gettid || (long)r.orig_rax == SYS_getpid || (long)r.orig_rax == SYS_rt_sigprocmask) {
      r.rax = 0; /* a remaining call of raise */
    } else {
      CHECK((long)r.orig_rax == numbers[i]);
      r.rax = (unsigned long)answers[i++];
    }
    set_registers(child, r);
  }
  go_on(PTRACE_CONT, child, 0);
  expect_success(child);
  puts("calls seen");
  return 0;
}
