// A thread computes in code below 2 GiB, where just-in-time compilers request memory, as far from everything else as a
// jump can reach. A replay quickly finds in which of a million iterations other threads ran.
#define _GNU_SOURCE
#include <pthread.h>

#include "check.h"

enum { kWords = 100, kCodeBytes = 4096 };

static volatile int stop;
static volatile uint64_t words[kWords];
static volatile uint64_t turns;

extern const char code_begin[], code_end[];
__asm__(
    ".text\n"
    "code_begin:\n"
    "1: xor %eax, %eax\n"
    "2: mov %rax, (%rdi,%rax,8)\n"
    "add $1, %rax\n"
    "cmp $100, %rax\n"
    "jne 2b\n"
    "addq $1, (%rsi)\n"
    "cmpl $0, (%rdx)\n"
    "je 1b\n"
    "ret\n"
    "code_end:\n");

typedef void (*Code)(volatile uint64_t* words, volatile uint64_t* turns, volatile int* stop);

static void* compute(void* code) {
  ((Code)code)(words, &turns, &stop);
  return NULL;
}

int main(void) {
  char* code =
      mmap(NULL, kCodeBytes, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
  CHECK(code != MAP_FAILED && (uint64_t)code < 0x80000000);
  memcpy(code, code_begin, (size_t)(code_end - code_begin));
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, compute, code) == 0);
  usleep(1000);
  stop = 1;
  CHECK(pthread_join(thread, NULL) == 0);
  printf("%llu turns\n", (unsigned long long)turns);
  return 0;
}
