/* Reads of the time stamp counter between instructions of all kinds, each often enough to be patched: registers, flags,
 * stack and path of the program must be the same as without the patches.
 */
#include <stdint.h>
#include <stdio.h>

enum { TURNS = 2000 };

uint64_t framed(void), bare(void), before_call(void), before_jump(void), with_processor(void), behind_flags(uint64_t);
uint64_t to_memory(uint64_t*where), in_loop(uint64_t turns);

__asm__(
    ".text\n"
    "framed: push %rbp\n\tmov %rsp, %rbp\n\trdtsc\n\tpop %rbp\n\tret\n"
    "bare: rdtsc\n\tret\n"
    "before_call: push %rbx\n\tmov $5, %ebx\n\trdtsc\n\tcall bare\n\tlea (%rbx), %rax\n\tpop %rbx\n\tret\n"
    "before_jump: xor %ecx, %ecx\n\trdtsc\n\tjmp 1f\n\t.byte 0x0f, 0x0b\n1:\tlea 7(%rcx), %rax\n\tret\n"
    "with_processor: mov $9, %ecx\n\trdtscp\n\tmov %rcx, %rax\n\tret\n"
    "behind_flags: cmp $1, %rdi\n\trdtsc\n\tjne 1f\n\tmov $1, %eax\n\tret\n1:\tmov $2, %eax\n\tret\n"
    "to_memory: rdtsc\n\tmov %edx, 4(%rdi)\n\tmov %eax, (%rdi)\n\tmov (%rdi), %rax\n\tret\n"
    "in_loop: xor %ecx, %ecx\n1:\trdtsc\n\tadd $1, %ecx\n\tcmp %edi, %ecx\n\tjne 1b\n\tmov %ecx, %eax\n\tret\n");

int main(void) {
  uint64_t last = 0, where, wrong = 0;
  for (uint64_t i = 0; i < TURNS; i++) {
    framed();
    bare();
    wrong += before_call() != 5;
    wrong += before_jump() != 7;
    with_processor();
    wrong += behind_flags(i & 1) != 2 - (i & 1);
    const uint64_t now = to_memory(&where);
    wrong += now < last;
    last = now;
  }
  wrong += in_loop(TURNS) != TURNS;
  printf("%lu wrong\n", (unsigned long)wrong);
  return wrong != 0;
}
