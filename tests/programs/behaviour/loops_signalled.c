/* Signals to threads that compute: from a timer and from other threads, with handlers that return, that change the
 * loop's registers, and that leave it with a jump. The sum depends on where each signal arrived. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum { JUMPS = 12, KICKS = 40 };

static __thread sigjmp_buf way_out;
static __thread volatile uint64_t turns; /* iterations of this thread's loop */
static __thread volatile uint64_t met;   /* hash of where its signals arrived */
static volatile int kicking;

static void leave(int signal) {
  (void)signal;
  siglongjmp(way_out, 1);
}

static void note(int signal) { met = met * 31 + turns + (uint64_t)signal; }

/* Changes registers of the loop, which counts down in rbx and adds r12. */
static void change(int signal, siginfo_t* info, void* context) {
  (void)signal;
  (void)info;
  greg_t* registers = ((ucontext_t*)context)->uc_mcontext.gregs;
  met = met * 31 + (uint64_t)registers[REG_RBX];
  if (registers[REG_R13] != 0x1357) return; /* not in the loop */
  registers[REG_R12]++;
  registers[REG_RBX] -= registers[REG_RBX] / 8;
}

static int catch_signal(int number, void (*handler)(int), void (*with_context)(int, siginfo_t*, void*)) {
  struct sigaction action = {.sa_flags = SA_RESTART};
  if (with_context != NULL) {
    action.sa_sigaction = with_context;
    action.sa_flags |= SA_SIGINFO;
  } else {
    action.sa_handler = handler;
  }
  return sigaction(number, &action, NULL);
}

static int set_timer(long us) {
  const struct itimerval every = {{0, us}, {0, us}};
  return setitimer(ITIMER_REAL, &every, NULL);
}

/* Only an alarm ends the loop. */
static uint64_t left_by_jump(void) {
  static volatile uint64_t sum;
  static volatile int jumps;
  if (sigsetjmp(way_out, 1) != 0) sum = sum * 31 + turns;
  if (jumps++ == JUMPS) return sum;
  const struct itimerval once = {{0, 0}, {0, 1000 + 700 * jumps}};
  turns = 0;
  setitimer(ITIMER_REAL, &once, NULL);
  for (;;) turns = turns + 1;
}

static uint64_t ticks(void) {
  const struct timespec length = {0, 60000000};
  struct timespec start, now;
  met = turns = 0;
  clock_gettime(CLOCK_MONOTONIC, &start);
  do {
    for (int i = 0; i < 300000; i++) turns = turns + 3;
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while ((now.tv_sec - start.tv_sec) * 1000000000L + now.tv_nsec - start.tv_nsec < length.tv_nsec);
  return met + turns;
}

static uint64_t registers_changed(void) {
  uint64_t sum = 0, left = 300000000, added = 1;
  __asm__ volatile(
      "mov $0x1357, %%r13\n\tmov %2, %%r12\n"
      "1: add %%r12, %0\n\trol $1, %0\n\tcmp $1, %0\n\tlea -1(%1), %1\n\ttest %1, %1\n\tjg 1b\n\t"
      "xor %%r13d, %%r13d\n\tmov %%r12, %2"
      : "+a"(sum), "+b"(left), "+d"(added)
      :
      : "r12", "r13", "cc");
  return sum + left + added;
}

static pthread_t computer;
static void* kick(void* argument) {
  for (int i = 0; i < KICKS && kicking; i++) {
    usleep(400);
    pthread_kill(computer, i % 3 == 0 ? SIGUSR2 : SIGUSR1);
  }
  return argument;
}

static void* compute_kicked(void* argument) {
  (void)argument;
  uint64_t sum = 1;
  for (turns = 0; turns < 20000000 && kicking; turns = turns + 1) sum = sum * 3 + met;
  return (void*)(sum + met);
}

int main(void) {
  pthread_t kicker;
  void* sum;
  if (catch_signal(SIGALRM, leave, NULL) != 0) return 1;
  printf("jumps %lx\n", (unsigned long)left_by_jump());

  if (catch_signal(SIGALRM, note, NULL) != 0 || set_timer(2000) != 0) return 1;
  printf("ticks %lx\n", (unsigned long)ticks());

  if (catch_signal(SIGALRM, NULL, change) != 0) return 1;
  printf("changed %lx\n", (unsigned long)registers_changed());
  if (set_timer(0) != 0) return 1;

  if (catch_signal(SIGUSR1, note, NULL) != 0 || catch_signal(SIGUSR2, note, NULL) != 0) return 1;
  kicking = 1;
  if (pthread_create(&computer, NULL, compute_kicked, NULL) != 0) return 1;
  if (pthread_create(&kicker, NULL, kick, NULL) != 0) return 1;
  pthread_join(kicker, NULL);
  kicking = 0;
  pthread_join(computer, &sum);
  printf("kicked %lx\n", (unsigned long)(uintptr_t)sum);
  return 0;
}
