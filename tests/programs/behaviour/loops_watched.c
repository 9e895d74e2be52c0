/* Threads that compute in further kinds of loops. Another thread wakes and observes each loop. The sum depends on how
 * far the loop was then, so a replay must repeat every preemption at exactly the same iteration. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TURNS = 2000000 };

static volatile uint64_t progress; /* of the current loop */
static volatile int computing;
static volatile uint64_t changed; /* by the watcher, read by the loop */
static char text[256], other[256];

static uint64_t repeated_strings(void) {
  uint64_t sum = 0;
  for (int i = 0; i < TURNS / 40; i++) {
    void *to = other, *from = text;
    uint64_t bytes = sizeof text;
    uint8_t same;
    __asm__ volatile("rep stosb" : "+D"(to), "+c"(bytes) : "a"(i) : "memory");
    to = other;
    bytes = sizeof text;
    __asm__ volatile("repe cmpsb\n\tsete %3" : "+S"(from), "+D"(to), "+c"(bytes), "=r"(same) : : "cc", "memory");
    sum = sum * 31 + bytes + same;
    progress = sum;
  }
  return sum;
}

/* Calls through the linkage table. The loader resolves the first one. */
static uint64_t library_calls(void) {
  unsigned seed = 1;
  uint64_t sum = 0;
  for (int i = 0; i < TURNS / 4; i++) {
    sum += (uint64_t)rand_r(&seed);
    sum ^= (uint64_t)labs((long)sum) << 1;
    text[i % 100] = (char)(1 + sum % 100);
    sum += strlen(text);
    progress = sum;
  }
  return sum;
}

static uint64_t nested(void) {
  uint64_t sum = 1;
  for (int i = 0; i < 40; i++)
    for (int k = 0; k < 100; k++) {
      for (int n = 0; n < 500; n++) sum = sum * 3 + (uint64_t)(i ^ n);
      for (int n = 0; n < k; n++) sum ^= sum >> 7;
      progress = sum;
    }
  return sum;
}

/* mov $TURNS, %ecx; 1: add $3, %rax; mov %rax, (%rdi); loop 1b; ret */
static uint64_t made_at_run_time(void) {
  const uint8_t code[] = {0xb9, 0, 0, 0, 0, 0x48, 0x83, 0xc0, 3, 0x48, 0x89, 0x07, 0xe2, 0xf7, 0xc3};
  const uint32_t turns = 30 * TURNS;
  uint8_t* made = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED) return 0;
  memcpy(made, code, sizeof code);
  memcpy(made + 1, &turns, sizeof turns);
  uint64_t sum = 5;
  __asm__ volatile("call *%2" : "+a"(sum) : "D"(&progress), "r"(made) : "rcx", "memory", "cc");
  munmap(made, 4096);
  return sum;
}

typedef float Four __attribute__((vector_size(16)));
static uint64_t vectors(void) {
  static Four values[64];
  Four sum = {1, 2, 3, 4};
  for (int i = 0; i < TURNS; i++) {
    sum = sum * 0.5f + values[i & 63];
    values[i * 7 & 63] = sum + (Four){0, 1, 0, (float)(i & 3)};
    if (i % 64 == 0) progress = (uint64_t)(sum[1] * 1000);
  }
  return (uint64_t)(sum[0] * 1000) + (uint64_t)(sum[3] * 1000000);
}

static uint64_t changed_by_others(void) {
  uint64_t sum = 0;
  for (int i = 0; i < 10 * TURNS; i++) {
    sum += changed;
    sum ^= sum << 3;
    progress = sum;
  }
  return sum;
}

static uint64_t adds_in_memory(void) {
  uint64_t turns = 20 * TURNS;
  __asm__ volatile("1: addq $3, %0\n\tlock incq %0\n\txorb $1, %0\n\tdec %1\n\tjne 1b"
                   : "+m"(progress), "+r"(turns)
                   :
                   : "cc");
  return progress;
}

/* The child inherits the parent's counted loops, and has its own watcher. */
static void* watch(void* argument);
static uint64_t in_a_child(void) {
  const uint64_t mine = nested();
  int status = 0;
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    pthread_t watcher;
    void* seen;
    if (pthread_create(&watcher, NULL, watch, NULL) != 0) _exit(2);
    const uint64_t sum = nested() + nested();
    computing = 0;
    pthread_join(watcher, &seen);
    printf("child: %lx %lx\n", (unsigned long)sum, (unsigned long)(uintptr_t)seen);
    fflush(stdout);
    _exit(0);
  }
  const uint64_t again = nested();
  waitpid(child, &status, 0);
  return mine + again + (uint64_t)status;
}

static uint64_t (*const kinds[])(void) = {repeated_strings, library_calls,     nested,         made_at_run_time,
                                          vectors,          changed_by_others, adds_in_memory, in_a_child};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void* watch(void* argument) {
  uint64_t seen = (uintptr_t)argument;
  while (computing) {
    usleep(300);
    seen = seen * 6364136223846793005u + progress;
    changed = seen;
  }
  return (void*)seen;
}

static void* compute(void* argument) { return (void*)kinds[(uintptr_t)argument](); }

int main(void) {
  for (uintptr_t kind = 0; kind < KINDS; kind++) {
    pthread_t watcher, worker;
    void *sum, *seen;
    computing = 1;
    if (pthread_create(&watcher, NULL, watch, (void*)kind) != 0) return 1;
    if (pthread_create(&worker, NULL, compute, (void*)kind) != 0) return 1;
    pthread_join(worker, &sum);
    computing = 0;
    pthread_join(watcher, &seen);
    printf("%d: %lx %lx\n", (int)kind, (unsigned long)(uintptr_t)sum, (unsigned long)(uintptr_t)seen);
  }
  return 0;
}
