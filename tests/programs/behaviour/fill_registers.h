/* For loops that compute in registers, after calls that may change other registers. */
#pragma once

/* Sets the caller-saved registers. The loop still has these values, except where a call changes them. */
static void fill_registers(void) {
  __asm__ volatile(
      "mov $71, %%ecx\n\tmov $72, %%edx\n\tmov $73, %%esi\n\tmov $74, %%edi\n\t"
      "mov $75, %%r8d\n\tmov $76, %%r9d\n\tmov $77, %%r10d\n\tmov $78, %%r11d" ::
          : "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11");
}
