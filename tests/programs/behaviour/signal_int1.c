/* The instructions int1 and int3 raise SIGTRAP with codes of their own, which are not those of a step. On some virtual
   machines int1 is not passed by when it traps: there the handler passes it. */
#define _GNU_SOURCE
#include <ucontext.h>
#include "check.h"

static volatile int traps;
static volatile int codes[2];
static volatile unsigned long places[2];
extern char at_int1[], after_int1[], after_int3[];

static void on_trap(int number, siginfo_t* info, void* raw) {
  ucontext_t* context = raw;
  (void)number;
  if (context->uc_mcontext.gregs[REG_RIP] == (greg_t)at_int1) context->uc_mcontext.gregs[REG_RIP] = (greg_t)after_int1;
  codes[traps] = info->si_code;
  places[traps++] = (unsigned long)context->uc_mcontext.gregs[REG_RIP];
}

int main(void) {
  enum { KERNEL = 0x80 }; /* SI_KERNEL */
  on_signal(SIGTRAP, on_trap, 0);
  __asm__ volatile(
      ".globl at_int1; at_int1: .byte 0xf1; .globl after_int1; after_int1: nop; int3; .globl after_int3; after_int3: "
      "nop");
  CHECK(traps == 2 && codes[0] == TRAP_BRKPT && codes[1] == KERNEL);
  CHECK(places[0] == (unsigned long)after_int1 && places[1] == (unsigned long)after_int3);
  return 0;
}
