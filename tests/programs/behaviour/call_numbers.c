/* The kernel uses only the lower half of a system call's number, and rejects negative and very large numbers. */
#define _GNU_SOURCE
#include "check.h"

static long call(long number) {
  long result;
  __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(0), "S"(0), "d"(0) : "rcx", "r11", "memory");
  return result;
}

int main(void) {
  for (int i = 0; i < 10; i++) {
    CHECK(call(0x100000000 | SYS_getppid) == getppid());
    CHECK(call(-1) == -ENOSYS && call(1 << 30) == -ENOSYS && call(100000) == -ENOSYS);
  }
  puts("numbers");
  return 0;
}
