/* Reads the time stamp counter N times, in a function that does nothing else. Argument: N (1,000,000). */
#include <stdio.h>
#include <stdlib.h>

void read_counter(void);
asm(".text\n.type read_counter, @function\nread_counter: rdtsc\n ret\n.size read_counter, .-read_counter\n"
    ".type behind, @function\nbehind: mov %edi, %eax\n ret\n.size behind, .-behind\n");

int main(int argc, char** argv) {
  const long count = argc > 1 ? atol(argv[1]) : 1000000;
  for (long i = 0; i < count; i++) asm volatile("call read_counter" ::: "rax", "rdx", "memory", "cc");
  printf("%ld\n", count);
  return 0;
}
