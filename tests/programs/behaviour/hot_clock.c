/* Reads the time stamp counter often, in several forms of code, some of which can be patched. Reads keep registers and
 * flags, values never decrease, the rate is the machine's, and a program that asked for the fault gets it. */
#include <linux/prctl.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <time.h>

#include "check.h"

enum { ROUNDS = 200 };

/* rdtsc; shl; or: what compilers make of __rdtsc(). */
static __attribute__((noinline)) uint64_t plain(void) {
  uint64_t value;
  asm volatile("rdtsc; shl $32, %%rdx; or %%rdx, %%rax" : "=a"(value) : : "rdx", "cc");
  return value;
}

static __attribute__((noinline)) uint64_t with_cpu(void) {
  uint64_t value;
  uint32_t cpu = 99;
  asm volatile("rdtscp; shl $32, %%rdx; or %%rdx, %%rax; lfence" : "=a"(value), "=c"(cpu) : : "rdx", "cc");
  CHECK(cpu != 99);
  return value;
}

static __attribute__((noinline)) uint64_t fenced(void) {
  uint32_t low, high;
  asm volatile("lfence; rdtsc; lfence; nop" : "=a"(low), "=d"(high));
  return (uint64_t)high << 32 | low;
}

/* As compiled without optimisation: the first store is just long enough to be patched. */
static __attribute__((noinline)) uint64_t stored(void) {
  uint64_t value;
  asm volatile(
      "push %%rbp; sub $256, %%rsp; lea 128(%%rsp), %%rbp\n"
      "rdtsc; mov %%eax, -8(%%rbp); mov %%edx, -4(%%rbp)\n"
      "mov -8(%%rbp), %%rax; lea 256(%%rsp), %%rsp; pop %%rbp"
      : "=a"(value)
      :
      : "rdx", "cc", "memory");
  return value;
}

/* Other code jumps to the next instruction, so this rdtsc cannot be patched. */
static __attribute__((noinline)) uint64_t jumped_to(void) {
  uint64_t value;
  asm volatile(
      "mov $2, %%ecx\n"
      "xor %%edx, %%edx; jmp 2f\n"
      "1: rdtsc\n"
      "2: shl $32, %%rdx; or %%rdx, %%rax\n"
      "dec %%ecx; jnz 1b"
      : "=a"(value)
      : "0"((uint64_t)0)
      : "rcx", "rdx", "cc");
  return value;
}

/* All but rax and rdx must be unchanged: registers, flags, and memory below the stack pointer. */
static uint64_t kept[11];
static __attribute__((noinline)) uint64_t keeps_all(void) {
  uint64_t value;
  register uint64_t* to asm("r13") = kept;
  asm volatile(
      "mov $1, %%rcx; mov $2, %%rsi; mov $3, %%rdi; mov $4, %%r8; mov $5, %%r9; mov $6, %%r10; mov $7, %%r11\n"
      "mov $8, %%r14; mov $9, %%r15; movq $10, -64(%%rsp); stc\n"
      "rdtsc; mov %%eax, %%eax; mov %%edx, %%edx; mov %%edx, %%edx\n"
      "setc %%bl; movzbl %%bl, %%ebx\n"
      "mov %%rcx, 0(%%r13); mov %%rsi, 8(%%r13); mov %%rdi, 16(%%r13); mov %%r8, 24(%%r13); mov %%r9, 32(%%r13)\n"
      "mov %%r10, 40(%%r13); mov %%r11, 48(%%r13); mov %%r14, 56(%%r13); mov %%r15, 64(%%r13)\n"
      "mov -64(%%rsp), %%rcx; mov %%rcx, 72(%%r13); mov %%rbx, 80(%%r13)\n"
      "shl $32, %%rdx; or %%rdx, %%rax"
      : "=a"(value), "+r"(to)
      :
      : "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r14", "r15", "cc", "memory");
  for (uint64_t i = 0; i < 10; i++) CHECK(kept[i] == i + 1);
  CHECK(kept[10] == 1);
  return value;
}

/* Functions that are too short for a jump: their callers are patched, each by itself. A function of the same kind that
 * is reached by a jump, or through a pointer, still works. */
void tiny(void);
void tiny_cpu(void);
asm(".text\n.p2align 4\n.type tiny, @function\ntiny: rdtsc\n ret\n.size tiny, .-tiny\n"
    ".type tiny_cpu, @function\ntiny_cpu: rdtscp\n ret\n.size tiny_cpu, .-tiny_cpu\n"
    ".type behind, @function\nbehind: mov %edi, %eax\n ret\n.size behind, .-behind\n"
    "jumps: jmp tiny\n");

#define CALL(how, flags)                                                                                        \
  ({                                                                                                            \
    uint64_t value;                                                                                             \
    asm volatile("sub $128, %%rsp; stc; " how "; setc %b1; lea 128(%%rsp), %%rsp; shl $32, %%rdx; or %%rdx, %0" \
                 : "=&a"(value), "=&q"(flags)                                                                   \
                 :                                                                                              \
                 : "rcx", "rdx", "cc", "memory");                                                               \
    value;                                                                                                      \
  })

static __attribute__((noinline)) uint64_t called(void) {
  uint8_t kept_flag;
  uint64_t first = CALL("call tiny", kept_flag);
  CHECK(kept_flag == 1);
  uint64_t second = CALL("call tiny_cpu", kept_flag);
  CHECK(kept_flag == 1 && second > first);
  uint64_t third = CALL("call tiny", kept_flag);
  CHECK(kept_flag == 1 && third > second);
  return third;
}

static __attribute__((noinline)) uint64_t reached_otherwise(void) {
  uint8_t kept_flag;
  uint64_t first = CALL("call jumps", kept_flag);
  uint64_t second = CALL("lea tiny(%%rip), %%rcx; call *%%rcx", kept_flag);
  CHECK(kept_flag == 1 && second > first);
  return second;
}

typedef uint64_t (*Read)(void);
static const Read kReads[] = {plain, with_cpu, fenced, stored, jumped_to, called, reached_otherwise, keeps_all};
enum { READS = sizeof kReads / sizeof kReads[0] };

static void* read_all(void* unused) {
  uint64_t last = 0;
  for (int i = 0; i < ROUNDS; i++)
    for (int form = 0; form < READS; form++) {
      uint64_t now = kReads[form]();
      CHECK(now > last);
      last = now;
    }
  return unused;
}

static double seconds(void) {
  struct timespec time;
  CHECK(clock_gettime(CLOCK_MONOTONIC, &time) == 0);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Two successive measurements of the rate are about equal, because the counter is steady. */
static double rate(void) {
  uint64_t start = plain();
  double from = seconds();
  while (seconds() - from < 0.02) plain();
  return (double)(plain() - start) / (seconds() - from);
}

static volatile int faults;
static void on_fault(int number, siginfo_t* info, void* context) {
  (void)number, (void)info, (void)context;
  faults++;
  CHECK(prctl(PR_SET_TSC, PR_TSC_ENABLE) == 0);
}

int main(void) {
  read_all(NULL);
  pthread_t threads[3];
  for (int i = 0; i < 3; i++) CHECK(pthread_create(&threads[i], NULL, read_all, NULL) == 0);
  for (int i = 0; i < 3; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  double one = rate(), other = rate();
  CHECK(one > 0 && other / one > 0.5 && other / one < 2);
  pid_t child = fork();
  if (child == 0) _exit(read_all(NULL) == NULL ? 0 : 1);
  expect_success(child);
  on_signal(SIGSEGV, on_fault, 0);
  CHECK(prctl(PR_SET_TSC, PR_TSC_SIGSEGV) == 0);
  plain();
  CHECK(faults == 1);
  printf("%llu ticks\n", (unsigned long long)plain());
  return 0;
}
