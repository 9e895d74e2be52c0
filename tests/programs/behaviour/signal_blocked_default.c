/* A signal with the default action that is blocked: it kills no process before it is unblocked. */
#define _GNU_SOURCE
#include "check.h"

static sigset_t set_of(int number) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  return set;
}

static void waits_for_it(void) {
  int ready[2];
  sigset_t set = set_of(SIGUSR1);
  CHECK(pipe(ready) == 0 && sigprocmask(SIG_BLOCK, &set, NULL) == 0);
  pid_t child = fork();
  if (child == 0) {
    int number = 0;
    CHECK(write(ready[1], "r", 1) == 1);
    CHECK(sigwait(&set, &number) == 0 && number == SIGUSR1);
    _exit(0);
  }
  char byte;
  CHECK(read(ready[0], &byte, 1) == 1 && kill(child, SIGUSR1) == 0);
  expect_success(child);
}

static void dies_when_unblocked(int number) {
  pid_t child = fork();
  if (child == 0) {
    sigset_t set = set_of(number), pending;
    CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0 && raise(number) == 0);
    CHECK(sigpending(&pending) == 0 && sigismember(&pending, number) == 1);
    CHECK(write(1, "still here\n", 11) == 11);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    _exit(7);
  }
  int status = status_of(child);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == number);
}

static void dies_in_sigsuspend(void) {
  pid_t child = fork();
  if (child == 0) {
    sigset_t set = set_of(SIGTERM), none;
    sigemptyset(&none);
    CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0 && raise(SIGTERM) == 0);
    sigsuspend(&none);
    _exit(7);
  }
  int status = status_of(child);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

static void ignored_is_forgotten(void) {
  sigset_t set = set_of(SIGUSR2), pending;
  CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0 && raise(SIGUSR2) == 0);
  signal(SIGUSR2, SIG_IGN);
  CHECK(sigpending(&pending) == 0 && sigismember(&pending, SIGUSR2) == 0);
  signal(SIGUSR2, SIG_DFL);
  CHECK(sigprocmask(SIG_UNBLOCK, &set, NULL) == 0);
}

int main(void) {
  waits_for_it();
  dies_when_unblocked(SIGTERM);
  dies_when_unblocked(SIGRTMIN + 3);
  dies_in_sigsuspend();
  ignored_is_forgotten();
  puts("blocked signals wait");
  return 0;
}
