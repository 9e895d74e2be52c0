/* Calls that a tracee's own filter leaves to its tracer (SECCOMP_RET_TRACE). The tracer lets them through, changes
 * them, or answers them itself. They fail with ENOSYS if no tracer has requested them. */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/ptrace.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include "check.h"

/* <sys/ptrace.h> and <linux/ptrace.h> exclude each other. */
long ptrace(int request, pid_t pid, void* address, void* data);

enum { kGetRegisters = 12, kSetRegisters = 13, kMessage = 42, kAnswer = 77 };
struct registers {
  unsigned long r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi, orig_rax, rest[11];
};

static void leave_to_tracer(int call) {
  struct sock_filter instructions[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE | kMessage),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog program = {sizeof instructions / sizeof instructions[0], instructions};
  CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

static int tracee(void) {
  CHECK(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0);
  leave_to_tracer(SYS_getppid);
  FAILS(syscall(SYS_getppid), ENOSYS); /* the tracer has not asked for them yet */
  raise(SIGSTOP);
  CHECK(syscall(SYS_getppid) > 0);
  CHECK(syscall(SYS_getppid) == getpid());
  CHECK(syscall(SYS_getppid) == kAnswer);
  return 0;
}

static int stop_of(pid_t child) {
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child && WIFSTOPPED(status));
  return status >> 8;
}

static void go_on(int request, pid_t child) { CHECK(ptrace(request, child, NULL, NULL) == 0); }

/* Waits until the tracee stops at the event of a call that its filter leaves to us. Returns its registers. */
static struct registers next_event(pid_t child) {
  unsigned long message = 0;
  struct registers registers;
  struct ptrace_syscall_info info;
  CHECK(stop_of(child) == (SIGTRAP | PTRACE_EVENT_SECCOMP << 8));
  CHECK(ptrace(PTRACE_GETEVENTMSG, child, NULL, &message) == 0 && message == kMessage);
  CHECK(ptrace(kGetRegisters, child, NULL, &registers) == 0);
  CHECK(registers.orig_rax == SYS_getppid && registers.rax == -(unsigned long)ENOSYS);
  CHECK(ptrace(PTRACE_GET_SYSCALL_INFO, child, (void*)sizeof info, &info) > 0);
  CHECK(info.op == PTRACE_SYSCALL_INFO_SECCOMP && info.seccomp.nr == SYS_getppid);
  CHECK(info.seccomp.ret_data == kMessage);
  return registers;
}

int main(void) {
  const pid_t child = fork();
  if (child == 0) return tracee();
  CHECK(stop_of(child) == SIGSTOP);
  CHECK(ptrace(PTRACE_SETOPTIONS, child, NULL, (void*)PTRACE_O_TRACESECCOMP) == 0);
  go_on(PTRACE_SYSCALL, child);
  while (stop_of(child) == SIGTRAP) { /* stops of raise, and of the first getppid before its event */
    struct registers registers;
    CHECK(ptrace(kGetRegisters, child, NULL, &registers) == 0);
    go_on(registers.orig_rax == SYS_getppid ? PTRACE_CONT : PTRACE_SYSCALL, child);
    if (registers.orig_rax == SYS_getppid) break;
  }
  next_event(child);
  go_on(PTRACE_CONT, child);
  struct registers registers = next_event(child);
  registers.orig_rax = SYS_getpid;
  CHECK(ptrace(kSetRegisters, child, NULL, &registers) == 0);
  go_on(PTRACE_CONT, child);
  registers = next_event(child);
  registers.orig_rax = -1ul;
  registers.rax = kAnswer;
  CHECK(ptrace(kSetRegisters, child, NULL, &registers) == 0);
  go_on(PTRACE_CONT, child);
  expect_success(child);
  puts("left to the tracer");
  return 0;
}
