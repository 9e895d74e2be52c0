/* A program that steps itself with the trap flag, over the instructions and calls that the recorder emulates. */
#define _GNU_SOURCE
#include <ucontext.h>
#include "check.h"

static volatile int traps, of_other_kind, flag_was_off;
static volatile unsigned long places[64];

static void on_trap(int number, siginfo_t* info, void* raw) {
  const ucontext_t* context = raw;
  (void)number;
  if (info->si_code != TRAP_TRACE) of_other_kind++;
  if ((context->uc_mcontext.gregs[REG_EFL] & 0x100) == 0) flag_was_off++;
  if (traps < 64) places[traps] = (unsigned long)context->uc_mcontext.gregs[REG_RIP];
  traps++;
}

#define STEPS_ON "subq $128, %%rsp; pushfq; orq $0x100, (%%rsp); popfq;"
#define STEPS_OFF "pushfq; andq $~0x100, (%%rsp); popfq;"

extern char clock_read[], after_clock[], before_id[], after_id[], steps_over[], before_call[], after_call[];

static void over_instructions(void) {
  unsigned long low = 0;
  traps = flag_was_off = 0;
  __asm__ volatile(STEPS_ON
                   "nop;"
                   ".globl clock_read; clock_read: rdtsc;"
                   ".globl after_clock; after_clock: nop;"
                   ".globl before_id; before_id: xorl %%eax, %%eax; cpuid;"
                   ".globl after_id; after_id: nop;" STEPS_OFF ".globl steps_over; steps_over: addq $128, %%rsp"
                   : "+a"(low)
                   :
                   : "rbx", "rcx", "rdx", "memory", "cc");
  /* cpuid traps to a hypervisor, and some (PVM) lose the step. */
  int id_steps = traps == 9;
  CHECK(of_other_kind == 0 && flag_was_off == 1 && traps == 8 + id_steps);
  CHECK(places[0] == (unsigned long)clock_read && places[1] == (unsigned long)after_clock);
  CHECK(places[2] == (unsigned long)before_id && (places[4] == (unsigned long)after_id) == id_steps);
  CHECK(places[7 + id_steps] == (unsigned long)steps_over);
}

static void over_a_call(void) {
  long pid = 0;
  traps = flag_was_off = 0;
  __asm__ volatile(STEPS_ON
                   ".globl before_call; before_call: movl $39, %%eax;"
                   "syscall;"
                   "nop;"
                   ".globl after_call; after_call: nop;" STEPS_OFF "addq $128, %%rsp"
                   : "=a"(pid)
                   :
                   : "rcx", "r11", "memory", "cc");
  CHECK(of_other_kind == 0 && flag_was_off == 1 && pid == getpid());
  CHECK(traps == 6 && places[1] == (unsigned long)after_call);
  CHECK(places[0] == (unsigned long)before_call + 5);
}

int main(void) {
  on_signal(SIGTRAP, on_trap, 0);
  for (int round = 0; round < 12; round++) {
    over_instructions();
    over_a_call();
  }
  puts("stepped");
  return 0;
}
