/* sigaction drops unknown flags, and reports a bad pointer before a signal that cannot be caught. If a program calls
 * restart_syscall, that returns EINTR. */
#define _GNU_SOURCE
#include "check.h"

struct kernel_action {
  void (*handler)(int);
  unsigned long flags;
  void (*restorer)(void);
  unsigned long mask;
};

static void nothing(int number) { (void)number; }

int main(void) {
  struct kernel_action action = {nothing, 0x7fffffff, NULL, ~0ul}, kept;
  FAILS(syscall(SYS_rt_sigaction, SIGKILL, (void*)16, NULL, 8), EFAULT);
  FAILS(syscall(SYS_rt_sigaction, SIGKILL, &action, NULL, 8), EINVAL);
  CHECK(syscall(SYS_rt_sigaction, SIGUSR1, &action, NULL, 8) == 0);
  CHECK(syscall(SYS_rt_sigaction, SIGUSR1, NULL, &kept, 8) == 0);
  printf("flags %lx mask %lx\n", kept.flags, kept.mask);
  CHECK(kept.flags == 0x5c000807);
  CHECK(kept.mask == ~(1ul << (SIGKILL - 1) | 1ul << (SIGSTOP - 1)));
  FAILS(syscall(SYS_restart_syscall), EINTR);
  return 0;
}
