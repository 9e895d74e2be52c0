/*
 * A process that computes without a schedule point while others could run. Its inner loop returns to the same registers
 * and changes a word that returns to the same value, but the outer loop advances a counter in shared memory. So it is
 * not a loop that waits, and the instant at which another process reads the counter must be the same in a replay.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void compute(volatile uint64_t* counter, volatile uint16_t* word) {
  for (int n = 0; n < 6000000; n++) {
    for (int i = 0; i < 64; i++) __asm__ volatile("incw %0\n\tincw %0\n\taddw $0x3ffe, %0" : "+m"(*word));
    (*counter)++;
  }
}

int main(void) {
  volatile uint64_t* counter = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  volatile uint16_t* word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  pid_t child = fork();
  if (child == 0) {
    compute(counter, word);
    _exit(0);
  }
  for (int i = 0; i < 5; i++) {
    nanosleep(&(struct timespec){0, 20000000}, NULL);
    printf("%llu\n", (unsigned long long)*counter);
  }
  waitpid(child, NULL, 0);
  printf("at the end %llu\n", (unsigned long long)*counter);
  return 0;
}
