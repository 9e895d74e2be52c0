/* The program resumes with the context as the handler changed it: registers, flags, mask, vector state. */
#define _GNU_SOURCE
#include <ucontext.h>
#include "check.h"

static void change(int number, siginfo_t* info, void* context) {
  ucontext_t* u = context;
  greg_t* r = u->uc_mcontext.gregs;
  (void)number, (void)info;
  r[REG_RBX] = 0x1111, r[REG_R12] = 0x2222, r[REG_R15] = 0x3333;
  r[REG_RIP] += 2;
  r[REG_EFL] |= 1; /* carry */
  u->uc_mcontext.fpregs->_xmm[3].element[0] = 0xabcdef;
  sigaddset(&u->uc_sigmask, SIGUSR2);
}

static void scribble(int number, siginfo_t* info, void* context) {
  (void)number, (void)info, (void)context;
  __asm__ volatile("pcmpeqd %%xmm0, %%xmm0\n movdqa %%xmm0, %%xmm1\n movdqa %%xmm0, %%xmm15\n fldpi\n fldpi\n" ::
                       : "xmm0", "xmm1", "xmm15");
}

static void registers(void) {
  uint64_t rbx, r12, r15, xmm;
  unsigned char carry;
  on_signal(SIGILL, change, 0);
  __asm__ volatile(
      "pxor %%xmm3, %%xmm3\n xor %%ebx, %%ebx\n xor %%r12d, %%r12d\n xor %%r15d, %%r15d\n clc\n ud2\n"
      "setc %4\n mov %%rbx, %0\n mov %%r12, %1\n mov %%r15, %2\n movq %%xmm3, %3\n"
      : "=m"(rbx), "=m"(r12), "=m"(r15), "=m"(xmm), "=m"(carry)
      :
      : "rbx", "r12", "r15", "xmm3", "cc");
  CHECK(rbx == 0x1111 && r12 == 0x2222 && r15 == 0x3333 && xmm == 0xabcdef && carry == 1);
  sigset_t now;
  CHECK(sigprocmask(SIG_BLOCK, NULL, &now) == 0 && sigismember(&now, SIGUSR2) == 1);
}

/* Vector and x87 state survives a handler that uses both, and a system call. */
static void vectors(void) {
  long pid = getpid(), result;
  double in[4] = {1.5, 2.5, 3.5, 4.5}, out[4];
  long double x87_in = 1.0L / 3, x87_out;
  on_signal(SIGUSR1, scribble, 0);
  register long r10 __asm__("r10") = 0;
  __asm__ volatile(
      "movups %3, %%xmm0\n movups 16%3, %%xmm15\n fldt %5\n syscall\n"
      "movups %%xmm0, %1\n movups %%xmm15, 16%1\n fstpt %2\n"
      : "=a"(result), "=m"(out), "=m"(x87_out)
      : "m"(in), "0"((long)SYS_kill), "m"(x87_in), "D"(pid), "S"((long)SIGUSR1), "r"(r10)
      : "rcx", "r11", "xmm0", "xmm15", "memory");
  CHECK(result == 0 && memcmp(in, out, sizeof in) == 0 && x87_in == x87_out);
}

/* A system call preserves all registers but three, also those of arguments that it does not have. */
static void kept_registers(void) {
  uint64_t seen[6];
  __asm__ volatile(
      "mov $0x1001, %%edi\n mov $0x1002, %%esi\n mov $0x1003, %%edx\n mov $0x1004, %%r10d\n"
      "mov $0x1005, %%r8d\n mov $0x1006, %%r9d\n mov %1, %%eax\n syscall\n"
      "mov %%rdi, 0(%0)\n mov %%rsi, 8(%0)\n mov %%rdx, 16(%0)\n mov %%r10, 24(%0)\n mov %%r8, 32(%0)\n"
      "mov %%r9, 40(%0)\n" ::"b"(seen),
      "i"(SYS_getppid)
      : "rax", "rcx", "r11", "rdi", "rsi", "rdx", "r10", "r8", "r9", "memory");
  for (int i = 0; i < 6; i++) CHECK(seen[i] == 0x1001 + (uint64_t)i);
}

static char stack[32 << 10];
static ucontext_t here, there;
static volatile int visits;
static void other(void) {
  for (int i = 0; i < 3; i++) {
    visits++;
    CHECK(swapcontext(&there, &here) == 0);
  }
}

int main(void) {
  registers();
  vectors();
  kept_registers();
  CHECK(getcontext(&there) == 0);
  there.uc_stack.ss_sp = stack, there.uc_stack.ss_size = sizeof stack, there.uc_link = NULL;
  makecontext(&there, other, 0);
  for (int i = 1; i <= 3; i++) {
    CHECK(swapcontext(&here, &there) == 0);
    CHECK(visits == i);
  }
  puts("contexts");
  return 0;
}
