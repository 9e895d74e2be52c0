/* For loops that compute in registers: what was in those that calls may change. */
#pragma once

/* What the calls may change, to be found in the loop unless they do. */
static void fill_registers(void) {
  __asm__ volatile(
      "mov $71, %%ecx\n\tmov $72, %%edx\n\tmov $73, %%esi\n\tmov $74, %%edi\n\t"
      "mov $75, %%r8d\n\tmov $76, %%r9d\n\tmov $77, %%r10d\n\tmov $78, %%r11d" ::
          : "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11");
}
