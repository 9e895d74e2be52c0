/* Single steps: over plain instructions, a system call, into a handler; and breakpoints planted in the code. */
#define _GNU_SOURCE
#include "ptrace_check.h"

long steps_body(long);
__asm__(
    ".text\n.globl steps_body\nsteps_body:\n"
    "  mov $39, %eax\n" /* getpid */
    "  syscall\n"
    "  add $1, %rdi\n"
    "  add $2, %rdi\n"
    "  mov %rdi, %rax\n"
    "  ret\n");

static volatile int handled;
__attribute__((no_sanitize_thread)) static void handle(int number, siginfo_t* info, void* context) {
  (void)number, (void)info, (void)context;
  handled++;
}

__attribute__((noinline)) static int breakable(int value) {
  __asm__ volatile("nop" : "+r"(value));
  return value + 1;
}

static int child_work(void) {
  on_signal(SIGUSR1, handle, 0);
  if (breakable(1) != 2 || breakable(2) != 3) return 1;
  __asm__ volatile("int3");
  if (steps_body(10) != 13) return 2;
  raise(SIGUSR1);
  return handled == 1 ? 0 : 3;
}

static siginfo_t step(pid_t child) {
  go_on(PTRACE_SINGLESTEP, child, 0);
  CHECK(stop_of(child) == SIGTRAP);
  return siginfo_of(child);
}

int main(void) {
  pid_t child = fork_traced();
  if (child == 0) _exit(child_work());

  /* A breakpoint that is hit twice. */
  const unsigned long place = (unsigned long)breakable;
  errno = 0;
  const long code = ptrace(PTRACE_PEEKTEXT, child, place, NULL);
  CHECK(errno == 0);
  for (int hit = 0; hit < 2; hit++) {
    CHECK(ptrace(PTRACE_POKETEXT, child, place, (code & ~0xffL) | 0xcc) == 0);
    go_on(PTRACE_CONT, child, 0);
    CHECK(stop_of(child) == SIGTRAP);
    struct user_regs_struct r = registers_of(child);
    CHECK(r.rip == place + 1 && r.rdi == (unsigned long)hit + 1);
    CHECK(siginfo_of(child).si_code == SI_KERNEL);
    CHECK(ptrace(PTRACE_POKETEXT, child, place, code) == 0);
    r.rip = place;
    set_registers(child, r);
    step(child);
    CHECK(registers_of(child).rip != place);
  }

  go_on(PTRACE_CONT, child, 0);
  CHECK(stop_of(child) == SIGTRAP); /* its own int3 */

  /* Runs to steps_body, then steps over each of its instructions. */
  const unsigned long body = (unsigned long)steps_body;
  errno = 0;
  const long first = ptrace(PTRACE_PEEKTEXT, child, body, NULL);
  CHECK(errno == 0 && ptrace(PTRACE_POKETEXT, child, body, (first & ~0xffL) | 0xcc) == 0);
  go_on(PTRACE_CONT, child, 0);
  CHECK(stop_of(child) == SIGTRAP && ptrace(PTRACE_POKETEXT, child, body, first) == 0);
  struct user_regs_struct at_body = registers_of(child);
  at_body.rip = body;
  set_registers(child, at_body);
  static const unsigned long offsets[] = {5, 7, 11, 15, 18};
  for (int i = 0; i < 5; i++) {
    siginfo_t info = step(child);
    struct user_regs_struct r = registers_of(child);
    CHECK(r.rip == body + offsets[i]);
    CHECK(info.si_code == (i == 1 ? TRAP_BRKPT : TRAP_TRACE));
    if (i == 1) CHECK((long)r.rax == child);
    if (i == 2) CHECK(r.rdi == 11);
  }

  go_on(PTRACE_CONT, child, 0);
  CHECK(stop_of(child) == SIGUSR1);
  go_on(PTRACE_SINGLESTEP, child, SIGUSR1); /* into the handler */
  CHECK(stop_of(child) == SIGTRAP);
  CHECK(registers_of(child).rip == (unsigned long)handle);
  for (int i = 0; i < 15; i++) step(child); /* out of it, over sigreturn */
  go_on(PTRACE_CONT, child, 0);
  expect_success(child);
  puts("stepped");
  return 0;
}
