/* A tracer sees each signal first: suppresses one, lets one through, replaces one, injects one, changes its siginfo. */
#define _GNU_SOURCE
#include "ptrace_check.h"

static volatile int seen[65], value;

static void note(int number, siginfo_t* info, void* context) {
  (void)context;
  seen[number]++;
  value = info->si_value.sival_int;
}

static int child_work(void) {
  for (int number = SIGHUP; number <= SIGTERM; number++)
    if (number == SIGUSR1 || number == SIGUSR2 || number == SIGTERM) on_signal(number, note, 0);
  on_signal(SIGRTMIN, note, 0);
  raise(SIGUSR1); /* suppressed */
  if (seen[SIGUSR1] != 0) return 1;
  raise(SIGUSR1); /* let through */
  if (seen[SIGUSR1] != 1) return 2;
  raise(SIGUSR1); /* becomes SIGUSR2 */
  if (seen[SIGUSR1] != 1 || seen[SIGUSR2] != 1) return 3;
  raise(SIGWINCH); /* ignored, but seen */
  raise(SIGINT);   /* fatal, but suppressed */
  sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = 5});
  if (seen[SIGRTMIN] != 1 || value != 77) return 4;
  raise(SIGTRAP); /* becomes SIGTERM */
  return seen[SIGTERM] == 1 ? 0 : 5;
}

int main(void) {
  pid_t child = fork_traced();
  if (child == 0) _exit(child_work());
  go_on(PTRACE_CONT, child, 0);
  CHECK(stop_of(child) == SIGUSR1);
  go_on(PTRACE_CONT, child, 0);
  CHECK(stop_of(child) == SIGUSR1);
  go_on(PTRACE_CONT, child, SIGUSR1);
  CHECK(stop_of(child) == SIGUSR1);
  go_on(PTRACE_CONT, child, SIGUSR2);
  CHECK(stop_of(child) == SIGWINCH);
  go_on(PTRACE_CONT, child, SIGWINCH);
  CHECK(stop_of(child) == SIGINT);
  go_on(PTRACE_CONT, child, 0);
  CHECK(stop_of(child) == SIGRTMIN);
  siginfo_t info = siginfo_of(child);
  CHECK(info.si_code == SI_QUEUE && info.si_value.sival_int == 5 && info.si_pid == child);
  info.si_value.sival_int = 77;
  CHECK(ptrace(PTRACE_SETSIGINFO, child, NULL, &info) == 0);
  go_on(PTRACE_CONT, child, SIGRTMIN);
  CHECK(stop_of(child) == SIGTRAP);
  go_on(PTRACE_CONT, child, SIGTERM);
  expect_success(child);

  child = fork_traced();
  if (child == 0) {
    raise(SIGUSR1);
    _exit(1);
  }
  go_on(PTRACE_CONT, child, 0);
  CHECK(stop_of(child) == SIGUSR1);
  go_on(PTRACE_CONT, child, SIGTERM);
  int status = status_of(child);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
  puts("signals seen");
  return 0;
}
