/* A tracer makes its tracee call a function and execute system calls, and restores its code and registers.
 * */
#define _GNU_SOURCE
#include "ptrace_check.h"

static volatile long state = 1;
long double_it(long value);
long double_it(long value) {
  state += value;
  return value * 2;
}

static unsigned long trap_place(void) {
  static unsigned char* page;
  if (page == NULL) {
    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(page != MAP_FAILED);
    page[0] = 0xcc;
  }
  return (unsigned long)page;
}

/* Makes the tracee execute a system call, by an instruction that temporarily overwrites its code. */
static long remote_call(pid_t child, long number, long a, long b, long c, long d, long e, long f) {
  const struct user_regs_struct before = registers_of(child);
  errno = 0;
  const long code = ptrace(PTRACE_PEEKTEXT, child, before.rip, NULL);
  CHECK(errno == 0);
  CHECK(ptrace(PTRACE_POKETEXT, child, before.rip, (code & ~0xffffffL) | 0xcc050f) == 0); /* syscall; int3 */
  struct user_regs_struct r = before;
  r.rax = (unsigned long)number, r.orig_rax = -1;
  r.rdi = (unsigned long)a, r.rsi = (unsigned long)b, r.rdx = (unsigned long)c;
  r.r10 = (unsigned long)d, r.r8 = (unsigned long)e, r.r9 = (unsigned long)f;
  set_registers(child, r);
  go_on(PTRACE_CONT, child, 0);
  CHECK(stop_of(child) == SIGTRAP);
  const struct user_regs_struct after = registers_of(child);
  CHECK(after.rip == before.rip + 3);
  CHECK(ptrace(PTRACE_POKETEXT, child, before.rip, code) == 0);
  set_registers(child, before);
  return (long)after.rax;
}

int main(void) {
  const unsigned long trap = trap_place();
  int pipe_of[2];
  CHECK(pipe(pipe_of) == 0);
  pid_t child = fork();
  if (child == 0) {
    char byte;
    CHECK(read(pipe_of[0], &byte, 1) == 1);
    _exit(state == 22 ? 0 : 1);
  }
  CHECK(ptrace(PTRACE_ATTACH, child, NULL, NULL) == 0);
  CHECK(stop_of(child) == SIGSTOP);
  const struct user_regs_struct before = registers_of(child);
  struct user_regs_struct r = before;
  r.rsp = ((r.rsp - 512) & ~15UL) - 8;
  CHECK(ptrace(PTRACE_POKEDATA, child, r.rsp, trap) == 0); /* the return address of the function */
  r.rip = (unsigned long)double_it;
  r.rdi = 21;
  r.orig_rax = -1;
  set_registers(child, r);
  go_on(PTRACE_CONT, child, 0);
  CHECK(stop_of(child) == SIGTRAP);
  r = registers_of(child);
  CHECK(r.rax == 42 && r.rip == trap + 1);
  CHECK(remote_call(child, SYS_getpid, 0, 0, 0, 0, 0, 0) == child);
  const long mapped = remote_call(child, SYS_mmap, 0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(mapped > 0);
  CHECK(ptrace(PTRACE_POKEDATA, child, mapped, 0x6f6c6c6568) == 0);
  errno = 0;
  CHECK(ptrace(PTRACE_PEEKDATA, child, mapped, NULL) == 0x6f6c6c6568 && errno == 0);
  CHECK(remote_call(child, SYS_munmap, mapped, 4096, 0, 0, 0, 0) == 0);
  set_registers(child, before);
  CHECK(ptrace(PTRACE_DETACH, child, NULL, NULL) == 0);
  CHECK(write(pipe_of[1], "x", 1) == 1);
  expect_success(child);
  puts("injected");
  return 0;
}
