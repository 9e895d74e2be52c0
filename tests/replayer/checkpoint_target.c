// The first argument names a kind of state that checkpoints of a replay must preserve exactly. The output depends on
// all of this state. The second argument is its amount.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { kThreads = 8 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static uint64_t sum = 1;
static int turns, rounds = 40;
static __thread uint64_t own;  // each thread has its own
static volatile sig_atomic_t signals;

static void mix(uint64_t value) { sum = (sum ^ value) * 0x9e3779b97f4a7c15 + 1; }

static uint64_t input(void) {
  uint64_t random = 0;
  struct timespec now;
  getrandom(&random, sizeof random, 0);
  clock_gettime(CLOCK_MONOTONIC, &now);
  return random ^ (uint64_t)now.tv_nsec;
}

static void say(const char* what, int round) {
  printf("%s %d %016llx\n", what, round, (unsigned long long)sum);
  fflush(stdout);
}

static void alone(void) {
  for (int i = 0; i < rounds; i++) {
    const size_t bytes = 100 + input() % 1000;
    char* block = malloc(bytes);
    memset(block, (int)bytes, bytes);
    mix(input() + (uint64_t)(unsigned char)block[bytes / 2]);
    free(block);
    say("round", i);
  }
}

static void* work(void* number) {
  own = (uint64_t)(uintptr_t)number;
  for (int i = 0; i < rounds; i++) {
    double grows = 1.5 + (double)own;
    own = own * 31 + input();
    usleep(own % 3 == 0 ? 100 : 0);
    grows *= (double)(own % 7) + 0.25;
    pthread_mutex_lock(&lock);
    while (own % 5 == 0 && turns % kThreads == 0 && i > 0 && i < rounds / 2 && turns < rounds) {
      struct timespec until;
      clock_gettime(CLOCK_REALTIME, &until);
      until.tv_nsec = (until.tv_nsec + 1000000) % 1000000000;
      if (pthread_cond_timedwait(&changed, &lock, &until) != 0) break;
    }
    turns++;
    mix(own + (uint64_t)grows);
    pthread_cond_broadcast(&changed);
    if (i % 8 == 0) say("thread", (int)(uintptr_t)number);
    pthread_mutex_unlock(&lock);
  }
  return (void*)(uintptr_t)own;
}

static void threads(void) {
  pthread_t made[kThreads];
  for (uintptr_t i = 0; i < kThreads; i++) pthread_create(&made[i], NULL, work, (void*)i);
  for (int i = 0; i < kThreads; i++) {
    void* result;
    pthread_join(made[i], &result);
    mix((uint64_t)(uintptr_t)result);
    say("joined", i);
  }
}

static void on_signal(int number) {
  signals++;
  (void)number;
}

static void with_signals(void) {
  static char other_stack[64 << 10];
  const stack_t stack = {.ss_sp = other_stack, .ss_size = sizeof other_stack};
  sigaltstack(&stack, NULL);
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK | SA_RESTART};
  sigaction(SIGALRM, &action, NULL);
  sigaction(SIGUSR1, &action, NULL);
  const struct itimerval often = {{0, 2000}, {0, 2000}};
  setitimer(ITIMER_REAL, &often, NULL);
  for (int i = 0; i < rounds; i++) {
    if (i % 4 == 0) raise(SIGUSR1);
    sigset_t all, before;
    sigfillset(&all);
    if (i % 3 == 0) sigprocmask(SIG_BLOCK, &all, &before);
    const clock_t end = clock() + CLOCKS_PER_SEC / 500;
    while (clock() < end) mix((uint64_t)signals);
    if (i % 3 == 0) sigprocmask(SIG_SETMASK, &before, NULL);
    mix(input());
    say("signals", i);
  }
}

static void with_shared_memory(void) {
  alone();
  volatile int* shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  for (int i = 0; i < rounds; i++) shared[0] += (int)input(), mix((uint64_t)shared[0]), say("shared", i);
}

static void* outlive_main(void* nothing) {
  usleep(1000);
  alone();
  say("outlived", 0);
  exit(5);
  return nothing;
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "alone";
  if (argc > 2) rounds = atoi(argv[2]);
  if (strcmp(what, "alone") == 0) alone();
  if (strcmp(what, "threads") == 0) threads();
  if (strcmp(what, "signals") == 0) with_signals();
  if (strcmp(what, "shared") == 0) with_shared_memory();
  if (strcmp(what, "fault") == 0) alone(), *(volatile int*)8 = 0;
  if (strcmp(what, "main-ends") == 0) {
    pthread_t thread;
    pthread_create(&thread, NULL, outlive_main, NULL);
    alone();
    pthread_exit(NULL);
  }
  return (int)(sum % 5) + 1;
}
