/* Pending signals of all kinds are delivered in the kernel's order: faults first, then by number, real-time signals as
   often as they were sent, others once. If several are unblocked together, their handlers interrupt each other in that
   order, so the last one runs first. */
#define _GNU_SOURCE
#include <poll.h>
#include <time.h>
#include "check.h"

static int traps;

static void count(int number, siginfo_t* info, void* context) {
  (void)number, (void)info, (void)context;
  traps++;
}

static volatile int handled[8], n_handled;

static void note(int number, siginfo_t* info, void* context) {
  (void)info, (void)context;
  handled[n_handled++] = number;
}

static void unblock_together(void) {
  const int sent[] = {SIGUSR1, SIGSEGV, SIGRTMIN, SIGUSR2, SIGBUS},
            order[] = {SIGRTMIN, SIGUSR2, SIGUSR1, SIGSEGV, SIGBUS};
  sigset_t all, none;
  sigfillset(&all);
  sigemptyset(&none);
  for (int suspends = 0; suspends < 2; suspends++) {
    CHECK(sigprocmask(SIG_SETMASK, &all, NULL) == 0);
    for (int i = 0; i < 5; i++) {
      on_signal(sent[i], note, 0);
      CHECK(raise(sent[i]) == 0);
    }
    n_handled = 0;
    if (suspends)
      FAILS(sigsuspend(&none), EINTR);
    else
      CHECK(sigprocmask(SIG_SETMASK, &none, NULL) == 0);
    CHECK(n_handled == 5);
    for (int i = 0; i < 5; i++) CHECK(handled[i] == order[i]);
  }
}

/* A pending signal of the kind that faults cause also ends a call that unblocks it, if it is the only one. */
static void unblock_one(void) {
  const struct timespec soon = {5, 0};
  sigset_t all, none;
  sigfillset(&all);
  sigemptyset(&none);
  CHECK(sigprocmask(SIG_SETMASK, &all, NULL) == 0);
  n_handled = 0;
  CHECK(raise(SIGSEGV) == 0);
  FAILS(sigsuspend(&none), EINTR);
  CHECK(n_handled == 1 && raise(SIGBUS) == 0);
  FAILS(ppoll(NULL, 0, &soon, &none), EINTR);
  CHECK(n_handled == 2 && handled[1] == SIGBUS);
}

int main(void) {
  unblock_together();
  unblock_one();
  enum { kEach = 10 };
  const struct timespec at_once = {0, 0};
  const int sent[] = {SIGUSR2, SIGHUP, SIGTRAP, SIGSEGV};
  siginfo_t info;
  sigset_t all;
  sigfillset(&all);
  CHECK(sigprocmask(SIG_SETMASK, &all, NULL) == 0);
  for (int i = 0; i < kEach; i++)
    for (int number = SIGRTMAX; number > SIGRTMAX - 3; number--)
      CHECK(sigqueue(getpid(), number, (union sigval){.sival_int = i}) == 0);
  for (int i = 0; i < 4; i++) CHECK(kill(getpid(), sent[i]) == 0 && kill(getpid(), sent[i]) == 0);
  int last = 0, taken = 0;
  for (; sigtimedwait(&all, &info, &at_once) > 0; taken++) {
    if (info.si_signo != last) printf("\n%d:", last = info.si_signo);
    printf(" %d", info.si_code == SI_QUEUE ? info.si_value.sival_int : -1);
  }
  printf("\n%d\n", taken);
  CHECK(taken == 3 * kEach + 4);
  on_signal(SIGTRAP, count, 0);
  CHECK(raise(SIGTRAP) == 0 && raise(SIGTRAP) == 0);
  sigemptyset(&all);
  CHECK(sigprocmask(SIG_SETMASK, &all, NULL) == 0);
  CHECK(traps == 1);
  return 0;
}
