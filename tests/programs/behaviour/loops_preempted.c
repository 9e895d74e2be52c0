/* Threads that compute in loops of all kinds of instructions, while another wakes and sleeps. The sum shows any change
 * that a preemption, or the counting of iterations after it, makes to registers, flags, the stack or the path through
 * the loop. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

enum { TURNS = 3000000 };

static uint64_t in_memory[64];
static char from[4096], to[4096];
static volatile int computing;

__attribute__((noinline)) static uint64_t step(uint64_t x) { return x * 6364136223846793005u + 1442695040888963407u; }
__attribute__((noinline)) static uint64_t other_step(uint64_t x) { return x ^ x >> 29; }
static uint64_t (*volatile steps[2])(uint64_t) = {step, other_step};

static uint64_t calls(uint64_t x) {
  for (int i = 0; i < TURNS; i++) x = step(x);
  return x;
}

static uint64_t indirect_calls(uint64_t x) {
  for (int i = 0; i < TURNS; i++) x = steps[i & 1](x);
  return x;
}

/* Reaches labels by the jump table, and from the case above. */
static uint64_t cases(uint64_t x) {
  for (int i = 0; i < TURNS; i++) {
    switch (x >> 61) {
      case 0:
        x += 3; /* fall through */
      case 1:
        x ^= 5; /* fall through */
      case 2:
        x += 7; /* fall through */
      case 3:
        x ^= 11;
        break;
      case 4:
        x -= 13; /* fall through */
      case 5:
        x ^= 17; /* fall through */
      case 6:
        x -= 19;
        break;
      default:
        x = ~x;
    }
    x = step(x);
  }
  return x;
}

/* `loop` counts in rcx, and the carry flag lives from iteration to iteration. */
static uint64_t carry(uint64_t x) {
  uint64_t turns = 10 * TURNS, high = 0;
  __asm__ volatile("clc\n1: adc %0, %2\n\tadc $1, %0\n\trcl $1, %0\n\tloop 1b"
                   : "+r"(x), "+c"(turns), "+r"(high)
                   :
                   : "cc");
  return x ^ high;
}

static uint64_t loop_alone(uint64_t x) {
  uint64_t turns = 20 * TURNS;
  __asm__ volatile("1: loop 1b" : "+c"(turns));
  return x + turns;
}

static uint64_t strings(uint64_t x) {
  for (int i = 0; i < TURNS / 50; i++) {
    void *source = from, *target = to;
    uint64_t bytes = 1 + (x >> 52) % 4000;
    from[i & 4095] = (char)x;
    __asm__ volatile("rep movsb" : "+S"(source), "+D"(target), "+c"(bytes) : : "memory");
    x = step(x + (unsigned char)to[i & 1023]);
  }
  return x;
}

/* Uses memory below the stack pointer, where leaf functions keep variables. */
static uint64_t red_zone(uint64_t x) {
  uint64_t turns = TURNS;
  __asm__ volatile("1: mov %0, -120(%%rsp)\n\tadd $7, %0\n\trol $3, %0\n\txor -120(%%rsp), %0\n\tdec %1\n\tjne 1b"
                   : "+r"(x), "+r"(turns)
                   :
                   : "cc", "memory");
  return x;
}

static uint64_t few_words(uint64_t x) {
  for (int i = 0; i < TURNS; i++) {
    x = step(x);
    in_memory[x >> 58] ^= x;
  }
  return in_memory[3];
}

static uint64_t (*const kinds[])(uint64_t) = {calls,      indirect_calls, cases,    carry,
                                              loop_alone, strings,        red_zone, few_words};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void* wake_and_sleep(void* argument) {
  while (computing) usleep(500);
  return argument;
}

static void* compute(void* argument) { return (void*)kinds[(uintptr_t)argument](5); }

int main(void) {
  for (uintptr_t kind = 0; kind < KINDS; kind++) {
    pthread_t sleeper, worker;
    void* sum;
    computing = 1;
    if (pthread_create(&sleeper, NULL, wake_and_sleep, NULL) != 0) return 1;
    if (pthread_create(&worker, NULL, compute, (void*)kind) != 0) return 1;
    pthread_join(worker, &sum);
    computing = 0;
    pthread_join(sleeper, NULL);
    printf("%d: %lx\n", (int)kind, (unsigned long)(uintptr_t)sum);
  }
  return 0;
}
