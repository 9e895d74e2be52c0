/* The alignment check flag: its fault is SIGBUS, and it stays set across system calls. */
#define _GNU_SOURCE
#include <ucontext.h>
#include "check.h"

#define ALIGNMENT_CHECK 0x40000

static volatile int code;
/* Not instrumented: the handler starts with the flag set, and instrumentation may access unaligned memory. */
__attribute__((no_sanitize("thread"))) static void on_fault(int number, siginfo_t* info, void* raw) {
  ucontext_t* context = raw;
  (void)number;
  code = info->si_code;
  context->uc_mcontext.gregs[REG_EFL] &= ~(long)ALIGNMENT_CHECK;
}

#define CHECK_ON "subq $128, %%rsp; pushfq; orq $0x40000, (%%rsp); popfq;"

int main(void) {
  static char bytes[16] __attribute__((aligned(16)));
  int value;
  on_signal(SIGBUS, on_fault, 0);
  __asm__ volatile(CHECK_ON "movl 1(%1), %0; addq $128, %%rsp" : "=r"(value) : "r"(bytes) : "memory", "cc");
  CHECK(code == BUS_ADRALN && value == 0);
  for (int round = 0; round < 10; round++) {
    long pid;
    unsigned long flags;
    __asm__ volatile(CHECK_ON
                     "movl $39, %%eax; syscall; pushfq; popq %1;"
                     "pushfq; andq $~0x40000, (%%rsp); popfq; addq $128, %%rsp"
                     : "=a"(pid), "=&b"(flags)
                     :
                     : "rcx", "r11", "memory", "cc");
    CHECK(pid == getpid() && (flags & ALIGNMENT_CHECK) != 0);
  }
  puts("aligned");
  return 0;
}
