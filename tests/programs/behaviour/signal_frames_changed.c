/* Handlers that change what rt_sigreturn restores, mainly the floating-point state, and a program that builds a whole
 * frame. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <ucontext.h>

#include "check.h"

enum { kSoftware = 464, kSoftwareBytes = 48 }; /* of the kernel's own fields in the state */
enum { kStackBytes = 65536, kMxcsrBits = 0xff80 };

static void (*volatile change)(ucontext_t*);
static sigjmp_buf after_fault;
static volatile int code_of_fault;

static void remove_state(ucontext_t* context) { context->uc_mcontext.fpregs = NULL; }
static void make_legacy(ucontext_t* context) {
  memset((char*)context->uc_mcontext.fpregs + kSoftware, 0, kSoftwareBytes);
}
static void name_no_memory(ucontext_t* context) { context->uc_mcontext.fpregs = (fpregset_t)8; }
static void name_no_state(ucontext_t* context) {
  context->uc_mcontext.fpregs = (fpregset_t)((char*)context->uc_mcontext.fpregs + 1);
}
static void set_unknown_bits(ucontext_t* context) { context->uc_mcontext.fpregs->mxcsr = 0xffffffff; }
static void name_no_segment(ucontext_t* context) { context->uc_mcontext.gregs[REG_CSGSFS] = 0; }

static void on_user(int number, siginfo_t* info, void* context) {
  const unsigned other = 0x7f80;
  (void)number, (void)info;
  change(context);
  __asm__ volatile("pcmpeqd %%xmm5, %%xmm5\n ldmxcsr %0" ::"m"(other) : "xmm5");
}

static void on_fault(int number, siginfo_t* info, void* context) {
  (void)number, (void)context;
  code_of_fault = info->si_code;
  siglongjmp(after_fault, 1);
}

/* Checks %xmm5 and MXCSR after the handler. Before it, they are 0x1234 and rounding upwards. */
static void expect_after(void (*how)(ucontext_t*), unsigned long xmm5, unsigned mxcsr) {
  const unsigned wanted = 0x5f80, initial = 0x1f80;
  unsigned long got = 0;
  unsigned got_mxcsr = 0;
  change = how;
  __asm__ volatile(
      "ldmxcsr %2\n mov $0x1234, %%eax\n movq %%rax, %%xmm5\n mov $62, %%eax\n syscall\n"
      "movq %%xmm5, %0\n stmxcsr %1\n ldmxcsr %5"
      : "=r"(got), "=m"(got_mxcsr)
      : "m"(wanted), "D"((long)getpid()), "S"((long)SIGUSR1), "m"(initial)
      : "rax", "rcx", "r11", "xmm5", "memory");
  CHECK(got == xmm5 && (got_mxcsr & kMxcsrBits) == mxcsr);
}

static void expect_fault(void (*how)(ucontext_t*)) {
  code_of_fault = 0;
  change = how;
  if (sigsetjmp(after_fault, 1) == 0) {
    raise(SIGUSR1);
    CHECK(!"returned");
  }
  CHECK(code_of_fault == SI_KERNEL);
}

static void returned_to(void) {
  unsigned mxcsr = 0;
  sigset_t mask;
  __asm__ volatile("stmxcsr %0" : "=m"(mxcsr));
  CHECK((mxcsr & kMxcsrBits) == 0x1f80);
  CHECK(sigprocmask(SIG_BLOCK, NULL, &mask) == 0 && sigismember(&mask, SIGUSR2) == 1);
  puts("returned");
  fflush(stdout);
  _exit(0);
}

static void return_to_made_frame(void) {
  static char stack[kStackBytes] __attribute__((aligned(16)));
  static ucontext_t made;
  const unsigned other = 0x7f80;
  greg_t* registers = made.uc_mcontext.gregs;
  registers[REG_RIP] = (greg_t)returned_to;
  registers[REG_RSP] = (greg_t)(stack + kStackBytes - 8);
  registers[REG_EFL] = 0x202;
  registers[REG_CSGSFS] = 0x002b000000000033;
  made.uc_flags = 6; /* UC_SIGCONTEXT_SS, UC_STRICT_RESTORE_SS */
  made.uc_stack.ss_flags = SS_DISABLE;
  sigaddset(&made.uc_sigmask, SIGUSR2);
  __asm__ volatile("ldmxcsr %0\n mov %1, %%rsp\n mov $15, %%eax\n syscall" ::"m"(other), "r"(&made) : "memory");
}

int main(void) {
  on_signal(SIGUSR1, on_user, 0);
  on_signal(SIGSEGV, on_fault, 0);
  expect_after(remove_state, 0, 0x1f80);
  expect_after(make_legacy, 0x1234, 0x5f80);
  expect_fault(name_no_memory);
  expect_fault(name_no_state);
  expect_fault(set_unknown_bits);
  expect_fault(name_no_segment);
  return_to_made_frame();
  return 1;
}
