// Leaves main from within another function: jumps to main's return address with the stack pointer unchanged. The code
// at that address ends the process and does not need main's frame.
#include "check.h"

static uint64_t return_address, frame;

static __attribute__((noinline)) void leave_main(int status) {
  __asm__ volatile(
      "mov %1, %%rcx\n\t"
      "mov %2, %%rbp\n\t"
      "and $-16, %%rsp\n\t"
      "push %%rcx\n\t"
      "ret"
      :
      : "a"(status), "m"(return_address), "m"(frame)
      : "rcx", "memory");
}

static __attribute__((noinline)) void descend(int levels) {
  volatile char room[1000];
  room[0] = (char)levels;
  if (levels == 0) leave_main(room[0]);
  if (levels > 0) descend(levels - 1);
}

int main(void) {
  return_address = (uint64_t)__builtin_return_address(0);
  frame = *(uint64_t*)__builtin_frame_address(0);
  printf("in main\n");
  descend(5);
  return 1;
}
