/* Registers that calls and signal handlers must preserve, and the registers that a handler starts with. */
#define _GNU_SOURCE
#include "check.h"

static unsigned short control_seen;
static unsigned mxcsr_seen;

static void handler(int number, siginfo_t* info, void* context) {
  (void)number, (void)info, (void)context;
  unsigned short control = 0xf7f;
  unsigned mxcsr = 0x7f80;
  __asm__ volatile("fnstcw %0" : "=m"(control_seen));
  __asm__ volatile("stmxcsr %0" : "=m"(mxcsr_seen));
  __asm__ volatile("fldcw %0; ldmxcsr %1; pxor %%xmm7, %%xmm7" : : "m"(control), "m"(mxcsr) : "xmm7");
}

static void control_words(void) {
  unsigned short control = 0x27f, after = 0;
  unsigned mxcsr = 0x3f80 | 0x6000, mxcsr_after = 0;
  __asm__ volatile("fldcw %0; ldmxcsr %1" : : "m"(control), "m"(mxcsr));
  CHECK(raise(SIGUSR1) == 0);
  __asm__ volatile("fnstcw %0" : "=m"(after));
  __asm__ volatile("stmxcsr %0" : "=m"(mxcsr_after));
  CHECK(after == control && mxcsr_after == mxcsr);
  CHECK(control_seen == 0x37f && mxcsr_seen == 0x1f80);
  control = 0x37f, mxcsr = 0x1f80;
  __asm__ volatile("fldcw %0; ldmxcsr %1" : : "m"(control), "m"(mxcsr));
}

/* Calls kill(getpid(), `number`) with the vector and stack registers in use. */
static void vectors(int number) {
  long before = 0x1122334455667788, after = 0;
  long double sum = 0;
  __asm__ volatile(
      "fld1; fldpi; movq %[before], %%xmm7; mov %[pid], %%rdi; mov %[number], %%rsi; mov $62, %%eax; syscall;"
      "movq %%xmm7, %[after]; faddp; fstpt %[sum]"
      : [after] "=m"(after), [sum] "=m"(sum)
      : [before] "r"(before), [pid] "r"((long)getpid()), [number] "r"((long)number)
      : "rax", "rcx", "r11", "rdi", "rsi", "xmm7", "memory");
  CHECK(after == before && sum > 4.14L && sum < 4.15L);
}

static void flags(void) {
  unsigned long direction, alignment, carry;
  __asm__ volatile("std; mov $39, %%eax; syscall; pushf; pop %0; cld" : "=r"(direction) : : "rax", "rcx", "r11", "cc");
  __asm__ volatile(
      "pushf; orl $0x40000, (%%rsp); popf; mov $39, %%eax; syscall; pushf; pop %0;"
      "pushf; andl $~0x40000, (%%rsp); popf"
      : "=r"(alignment)
      :
      : "rax", "rcx", "r11", "cc");
  __asm__ volatile("stc; mov $39, %%eax; syscall; pushf; pop %0" : "=r"(carry) : : "rax", "rcx", "r11", "cc");
  CHECK((direction & 0x400) != 0 && (alignment & 0x40000) != 0 && (carry & 1) != 0);
}

/* After a call, rcx holds the return address and r11 the flags. Other registers and the red zone are unchanged. */
static void integers(void) {
  unsigned long rcx, here, kept, zone;
  __asm__ volatile(
      "mov $5, %%rdi; mov $6, %%rsi; mov $7, %%rdx; mov $8, %%r8; mov $9, %%r9; mov $10, %%r10;"
      "movq $0x55, -128(%%rsp); mov $110, %%eax; syscall; 1: mov %%rcx, %0; lea 1b(%%rip), %1;"
      "mov %%rdi, %2; add %%rsi, %2; add %%rdx, %2; add %%r8, %2; add %%r9, %2; add %%r10, %2; mov -128(%%rsp), %3"
      : "=&r"(rcx), "=&r"(here), "=&r"(kept), "=&r"(zone)
      :
      : "rax", "rcx", "r11", "rdx", "rdi", "rsi", "r8", "r9", "r10", "memory");
  CHECK(rcx == here && kept == 45 && zone == 0x55);
}

int main(void) {
  on_signal(SIGUSR1, handler, 0);
  for (int i = 0; i < 10; i++) { /* often, because hot call sites are patched */
    control_words();
    vectors(0);
    vectors(SIGUSR1);
    flags();
    integers();
  }
  puts("kept");
  return 0;
}
