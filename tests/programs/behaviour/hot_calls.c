/* The same `syscall` instructions executed again and again, in every form of code around them, so that they are
 * patched: only what a call may change changes, and errors, signals, forks and threads behave as without patches. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kRounds = 20 }; /* more than enough to make a call site hot */

static void check(int ok, const char* what) {
  if (!ok) {
    printf("wrong: %s\n", what);
    exit(1);
  }
}

struct registers {
  uint64_t rax, rbx, rcx, rdx, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15, flags, red_zone, after;
  unsigned char vector[16];
};

/* Calls getpid with known values in all registers, the flags and the red zone. */
__attribute__((noinline)) static void call_and_look(struct registers* out) {
  static const unsigned char kVector[16] = "fifteen letters";
  struct registers* place = out;
  const unsigned char* vector = kVector;
  asm volatile(
      "push %%rbp\n push %[out]\n"
      "movups (%[vector]), %%xmm7\n"
      "mov $0x1122334455667788, %%r15\n mov %%r15, -16(%%rsp)\n"
      "mov $1, %%rbx\n mov $2, %%rdx\n mov $3, %%rsi\n mov $4, %%rdi\n mov $5, %%r8\n mov $6, %%r9\n mov $7, %%r10\n"
      "mov $8, %%r12\n mov $9, %%r13\n mov $10, %%r14\n mov $11, %%r15\n"
      "stc\n"
      "mov $39, %%eax\n syscall\n"
      "1: xchg %%rax, (%%rsp)\n" /* rax: out */
      "mov %%rbx, 8(%%rax)\n mov %%rcx, 16(%%rax)\n mov %%rdx, 24(%%rax)\n mov %%rsi, 32(%%rax)\n"
      "mov %%rdi, 40(%%rax)\n mov %%r8, 48(%%rax)\n mov %%r9, 56(%%rax)\n mov %%r10, 64(%%rax)\n"
      "mov %%r11, 72(%%rax)\n mov %%r12, 80(%%rax)\n mov %%r13, 88(%%rax)\n mov %%r14, 96(%%rax)\n"
      "mov %%r15, 104(%%rax)\n movups %%xmm7, 136(%%rax)\n"
      "mov -16(%%rsp), %%rbx\n mov %%rbx, 120(%%rax)\n lea 1b(%%rip), %%rbx\n mov %%rbx, 128(%%rax)\n"
      "pushfq\n pop %%rbx\n mov %%rbx, 112(%%rax)\n"
      "pop %%rbx\n mov %%rbx, (%%rax)\n pop %%rbp\n"
      : [out] "+a"(place), [vector] "+c"(vector)
      :
      : "rbx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm7", "memory", "cc");
  check(memcmp(out->vector, kVector, 16) == 0, "vector register");
}

static void registers_survive(void) {
  for (int i = 0; i < kRounds; i++) {
    struct registers r;
    call_and_look(&r);
    check(r.rax == (uint64_t)getpid(), "result");
    check(r.rbx == 1 && r.rdx == 2 && r.rsi == 3 && r.rdi == 4 && r.r8 == 5 && r.r9 == 6 && r.r10 == 7, "arguments");
    check(r.r12 == 8 && r.r13 == 9 && r.r14 == 10 && r.r15 == 11, "registers");
    check(r.rcx == r.after, "rcx");
    check((r.r11 & 1) == 1 && (r.flags & 1) == 1 && (r.flags & 0x400) == 0, "flags");
    check(r.red_zone == 0x1122334455667788, "red zone");
  }
  puts("registers survive");
}

/* syscall; cmp $-4096, %rax: as in the C library's functions. */
__attribute__((noinline)) static long compared(long number, long a, long b, long c) {
  long result;
  asm volatile(
      "syscall\n"
      "cmp $-4096, %%rax\n"
      "jbe 1f\n"
      "neg %%rax\n add $1000000, %%rax\n"
      "1:"
      : "=a"(result)
      : "a"(number), "D"(a), "S"(b), "d"(c)
      : "rcx", "r11", "memory", "cc");
  return result;
}

/* The same, but other code jumps to the comparison. */
__attribute__((noinline)) static long jumped_to(int call, long number) {
  long result;
  asm volatile(
      "test %[call], %[call]\n"
      "je 1f\n"
      "syscall\n"
      "1: cmp $-4096, %%rax\n"
      "jbe 2f\n"
      "mov $-1, %%rax\n"
      "2:"
      : "=a"(result)
      : "a"(number), [call] "r"(call)
      : "rcx", "r11", "memory", "cc");
  return result;
}

/* One instruction for two calls: one path falls into it, the other jumps to it. */
__attribute__((noinline)) static long two_ways(int parent) {
  long result;
  asm volatile(
      "mov $110, %%eax\n"
      "test %[parent], %[parent]\n"
      "jne 1f\n"
      "mov $39, %%eax\n"
      "1: syscall\n"
      : "=&a"(result)
      : [parent] "r"(parent)
      : "rcx", "r11", "memory", "cc");
  return result;
}

/* The bytes of "mov $39, %eax" are the end of "mov $39, %r8d". */
__attribute__((noinline)) static long prefixed(long* r8) {
  long result;
  asm volatile(
      "mov $39, %%eax\n"
      "mov $39, %%r8d\n"
      "syscall\n"
      "mov %%r8, (%[r8])\n"
      : "=&a"(result)
      : [r8] "r"(r8)
      : "rcx", "r11", "r8", "memory");
  return result;
}

static void forms_of_code(void) {
  char byte = 'x';
  int ends[2];
  check(pipe(ends) == 0, "pipe");
  for (int i = 0; i < kRounds; i++) {
    check(compared(SYS_write, ends[1], (long)&byte, 1) == 1, "write");
    check(compared(SYS_read, ends[0], (long)&byte, 1) == 1, "read");
    check(compared(SYS_read, -1, (long)&byte, 1) == 1000000 + EBADF, "read of no file");
    check(compared(SYS_read, ends[0], 8, 0) == 0, "read of nothing");
    check(jumped_to(1, SYS_getpid) == getpid() && jumped_to(0, -5) == -1 && jumped_to(0, 7) == 7, "jump to the cmp");
    check(two_ways(0) == getpid() && two_ways(1) == getppid(), "two ways");
    long r8 = 0;
    check(prefixed(&r8) == getpid() && r8 == 39, "prefix");
  }
  close(ends[0]);
  close(ends[1]);
  puts("forms of code");
}

/* Code in a file is mapped, used and unmapped, and then other code is mapped in its place. */
static void code_goes(void) {
  static const unsigned char kParent[] = {0x90, 0xb8, 110, 0, 0, 0, 0x0f, 0x05, 0xc3};
  static const unsigned char kSelf[] = {0x90, 0x90, 0xb8, 39, 0, 0, 0, 0x0f, 0x05, 0xc3};
  char name[] = "hot_calls_XXXXXX";
  const int file = mkstemp(name);
  check(file >= 0 && unlink(name) == 0, "file");
  void* place = NULL;
  for (int i = 0; i < 4; i++) {
    const int parent = i % 2;
    check(ftruncate(file, 0) == 0 && ftruncate(file, 4096) == 0, "truncate");
    check(pwrite(file, parent ? kParent : kSelf, parent ? sizeof kParent : sizeof kSelf, 0) > 0, "code");
    place = mmap(place, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | (place == NULL ? 0 : MAP_FIXED), file, 0);
    check(place != MAP_FAILED, "mmap");
    long (*call)(void) = (long (*)(void))place;
    for (int k = 0; k < kRounds; k++) check(call() == (parent ? getppid() : getpid()), "mapped code");
    check(munmap(place, 4096) == 0, "munmap");
  }
  close(file);
  puts("code goes");
}

static volatile sig_atomic_t caught;
static void on_alarm(int number) { caught += number == SIGALRM; }

static sigjmp_buf out_of_read;
static void on_alarm_leave(int number) {
  (void)number;
  siglongjmp(out_of_read, 1);
}

/* Starts an alarm every 20 ms, until stop_alarms: if one comes before the call, a later one interrupts it. */
static void start_alarms(void (*handler)(int), int flags) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
  sigaction(SIGALRM, &action, NULL);
  const struct itimerval often = {{0, 20000}, {0, 20000}};
  setitimer(ITIMER_REAL, &often, NULL);
}

static void stop_alarms(void) {
  const struct itimerval never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &never, NULL);
}

static void signals_end_calls(void) {
  char byte;
  int ends[2];
  check(pipe(ends) == 0, "pipe");
  for (int i = 0; i < kRounds; i++) {
    caught = 0;
    start_alarms(on_alarm, 0);
    check(compared(SYS_read, ends[0], (long)&byte, 1) == 1000000 + EINTR && caught > 0, "interrupted read");
    stop_alarms();
  }
  for (int i = 0; i < 3; i++) {
    if (sigsetjmp(out_of_read, 1) == 0) {
      start_alarms(on_alarm_leave, 0);
      compared(SYS_read, ends[0], (long)&byte, 1);
      check(0, "read returned");
    }
    stop_alarms();
  }
  caught = 0;
  start_alarms(on_alarm, SA_RESTART);
  const pid_t child = fork(); /* it does not inherit the timer */
  if (child == 0) {
    usleep(80000);
    check(write(ends[1], "y", 1) == 1, "child's write");
    _exit(0);
  }
  check(compared(SYS_read, ends[0], (long)&byte, 1) == 1 && byte == 'y' && caught > 0, "restarted read");
  stop_alarms();
  check(waitpid(child, NULL, 0) == child, "waitpid");
  close(ends[0]);
  close(ends[1]);
  puts("signals end calls");
}

static void masks_and_raises(void) {
  struct sigaction action = {.sa_handler = on_alarm};
  sigaction(SIGALRM, &action, NULL);
  sigset_t set, before;
  sigemptyset(&set);
  sigaddset(&set, SIGALRM);
  caught = 0;
  for (int i = 0; i < kRounds; i++) {
    sigprocmask(SIG_BLOCK, &set, &before);
    raise(SIGALRM);
    check(caught == i, "blocked");
    sigprocmask(SIG_SETMASK, &before, NULL);
    check(caught == i + 1, "unblocked");
  }
  puts("masks and raises");
}

static void forks(void) {
  for (int i = 0; i < kRounds; i++) {
    const long child = compared(SYS_fork, 0, 0, 0);
    if (child == 0) compared(SYS_exit_group, i, 0, 0);
    int status = 0;
    check(waitpid((pid_t)child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == i, "child");
  }
  puts("forks");
}

static int early[2];
static void* read_early(void* result) {
  char byte = 0;
  *(long*)result = compared(SYS_read, early[0], (long)&byte, 1) + byte;
  return NULL;
}

/* Threads are in a call while another thread makes that call's instruction hot. */
static void thread_returns_to_patch(void) {
  pthread_t threads[4];
  long results[4] = {0};
  int other[2];
  char byte = 'z';
  check(pipe(early) == 0 && pipe(other) == 0, "pipe");
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 64 << 10);
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], &small, read_early, &results[i]);
  usleep(20000);
  for (int i = 0; i < kRounds; i++) {
    check(write(other[1], &byte, 1) == 1 && compared(SYS_read, other[0], (long)&byte, 1) == 1, "other pipe");
  }
  check(write(early[1], "aaaa", 4) == 4, "write");
  for (int i = 0; i < 4; i++) {
    pthread_join(threads[i], NULL);
    check(results[i] == 1 + 'a', "early read");
  }
  puts("thread returns to patch");
}

int main(void) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  thread_returns_to_patch(); /* first: the instruction is not yet patched */
  registers_survive();
  forms_of_code();
  code_goes();
  signals_end_calls();
  masks_and_raises();
  forks();
  return 0;
}
