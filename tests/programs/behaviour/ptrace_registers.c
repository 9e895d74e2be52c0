/* All requests for a tracee's registers: general, floating-point and vector registers, and the signal mask. */
#define _GNU_SOURCE
#include <elf.h>
#include "ptrace_check.h"

/* Stops by int3 with known values in rbx and xmm5. Returns their values after the stop. */
static uint64_t stop_with(uint64_t general, double* vector) {
  uint64_t out;
  double low;
  __asm__ volatile("mov %2, %%rbx\n movsd %3, %%xmm5\n int3\n mov %%rbx, %0\n movsd %%xmm5, %1\n"
                   : "=&r"(out), "=m"(low)
                   : "r"(general), "m"(*vector)
                   : "rbx", "xmm5", "memory");
  *vector = low;
  return out;
}

static int child_work(void) {
  double vector = 1.5;
  if (stop_with(0x1234, &vector) != 0x4321 || vector != 2.5) return 1;
  vector = 3.5;
  if (stop_with(7, &vector) != 8 || vector != 4.5) return 2;
  vector = 5.5;
  if (stop_with(9, &vector) != 10 || vector != 6.5) return 3;
  sigset_t mask;
  if (sigprocmask(SIG_SETMASK, NULL, &mask) != 0) return 4;
  return sigismember(&mask, SIGUSR2) ? 0 : 5;
}

static double get_double(const void* from) {
  double value;
  memcpy(&value, from, sizeof value);
  return value;
}

static void set_double(void* to, double value) { memcpy(to, &value, sizeof value); }

int main(void) {
  enum { kXmm5 = 160 + 5 * 16 };
  pid_t child = fork_traced();
  if (child == 0) _exit(child_work());

  go_on(PTRACE_CONT, child, 0);
  CHECK(stop_of(child) == SIGTRAP);
  struct user_regs_struct r = registers_of(child);
  CHECK(r.rbx == 0x1234 && (long)r.orig_rax == -1 && r.fs_base != 0);
  r.rbx = 0x4321;
  set_registers(child, r);
  struct user_fpregs_struct fp;
  CHECK(ptrace(PTRACE_GETFPREGS, child, NULL, &fp) == 0);
  CHECK(get_double(&fp.xmm_space[20]) == 1.5 && fp.mxcsr == 0x1f80 && fp.cwd == 0x37f);
  set_double(&fp.xmm_space[20], 2.5);
  CHECK(ptrace(PTRACE_SETFPREGS, child, NULL, &fp) == 0);

  go_on(PTRACE_CONT, child, 0);
  CHECK(stop_of(child) == SIGTRAP);
  struct iovec vector = {&r, sizeof r};
  CHECK(ptrace(PTRACE_GETREGSET, child, NT_PRSTATUS, &vector) == 0 && vector.iov_len == sizeof r && r.rbx == 7);
  r.rbx = 8;
  CHECK(ptrace(PTRACE_SETREGSET, child, NT_PRSTATUS, &vector) == 0);
  vector = (struct iovec){&fp, sizeof fp + 512};
  static char large[1024];
  vector.iov_base = large;
  CHECK(ptrace(PTRACE_GETREGSET, child, NT_PRFPREG, &vector) == 0 && vector.iov_len == sizeof fp);
  CHECK(get_double(large + kXmm5) == 3.5);
  set_double(large + kXmm5, 4.5);
  CHECK(ptrace(PTRACE_SETREGSET, child, NT_PRFPREG, &vector) == 0);

  go_on(PTRACE_CONT, child, 0);
  CHECK(stop_of(child) == SIGTRAP);
  CHECK(ptrace(PTRACE_PEEKUSER, child, offsetof(struct user, regs.rbx), NULL) == 9);
  CHECK(ptrace(PTRACE_POKEUSER, child, offsetof(struct user, regs.rbx), 10) == 0);
  static char state[16384];
  vector = (struct iovec){state, sizeof state};
  CHECK(ptrace(PTRACE_GETREGSET, child, NT_X86_XSTATE, &vector) == 0 && vector.iov_len >= 576);
  uint64_t features;
  memcpy(&features, state + 464, sizeof features);
  CHECK((features & 3) == 3 && get_double(state + kXmm5) == 5.5);
  set_double(state + kXmm5, 6.5);
  CHECK(ptrace(PTRACE_SETREGSET, child, NT_X86_XSTATE, &vector) == 0);
  vector.iov_len = 64;
  CHECK(ptrace(PTRACE_GETREGSET, child, NT_X86_XSTATE, &vector) == 0 && vector.iov_len == 64);
  uint64_t mask = 1, wanted = 1UL << (SIGUSR2 - 1) | 1UL << (SIGKILL - 1);
  CHECK(ptrace(PTRACE_GETSIGMASK, child, sizeof mask, &mask) == 0 && mask == 0);
  CHECK(ptrace(PTRACE_SETSIGMASK, child, sizeof wanted, &wanted) == 0);
  CHECK(ptrace(PTRACE_GETSIGMASK, child, sizeof mask, &mask) == 0 && mask == 1UL << (SIGUSR2 - 1));
  go_on(PTRACE_CONT, child, 0);
  expect_success(child);
  puts("registers seen");
  return 0;
}
