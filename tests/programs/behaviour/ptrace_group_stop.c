/* A group-stop stays in effect when the tracer continues its tracee: PTRACE_INTERRUPT reports it until SIGCONT. SIGCONT
 * is announced to seized tracees by a stop of its own. Stop signals and SIGCONT cancel each other. */
#define _GNU_SOURCE
#include "ptrace_check.h"

enum { kEventStop = 128 };

static int event_stop(int number) { return number | kEventStop << 8; }

/* In a group of its own, which is not orphaned: there, stop signals of the terminal would have no effect. */
static pid_t seized(void) {
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child != 0) CHECK(setpgid(child, child) == 0);
  if (child == 0)
    for (;;) pause();
  CHECK(ptrace(PTRACE_SEIZE, child, NULL, PTRACE_O_EXITKILL) == 0);
  return child;
}

static void interrupt(pid_t child) { CHECK(ptrace(PTRACE_INTERRUPT, child, NULL, NULL) == 0); }

static void listen_at(pid_t child) { CHECK(ptrace(PTRACE_LISTEN, child, NULL, NULL) == 0); }

static void expect_event(pid_t child, int number) {
  CHECK(stop_of(child) == event_stop(number));
  const siginfo_t info = siginfo_of(child);
  CHECK(info.si_signo == number && info.si_code == event_stop(number) && info.si_pid == child);
}

static void expect_signal(pid_t child, int number) {
  CHECK(stop_of(child) == number);
  CHECK(siginfo_of(child).si_signo == number);
}

static void expect_nothing(pid_t child) {
  int status;
  usleep(20000);
  CHECK(waitpid(child, &status, WNOHANG) == 0);
}

static pid_t group_stopped(int number) {
  const pid_t child = seized();
  CHECK(kill(child, number) == 0);
  expect_signal(child, number);
  go_on(PTRACE_CONT, child, number);
  expect_event(child, number);
  return child;
}

static void end(pid_t child) { CHECK(kill(child, SIGKILL) == 0 && WIFSIGNALED(status_of(child))); }

static void lasts_until_continued(int number) {
  const pid_t child = group_stopped(number);
  for (int i = 0; i < 2; i++) {
    go_on(PTRACE_CONT, child, 0);
    interrupt(child);
    expect_event(child, number);
  }
  go_on(PTRACE_CONT, child, 0);
  CHECK(kill(child, SIGCONT) == 0);
  expect_event(child, SIGTRAP);
  go_on(PTRACE_CONT, child, 0);
  expect_signal(child, SIGCONT);
  go_on(PTRACE_CONT, child, SIGCONT);
  interrupt(child);
  expect_event(child, SIGTRAP);
  end(child);
}

static void is_followed_by_another(void) {
  const pid_t child = group_stopped(SIGSTOP);
  go_on(PTRACE_CONT, child, 0);
  CHECK(kill(child, SIGTSTP) == 0);
  expect_signal(child, SIGTSTP);
  go_on(PTRACE_CONT, child, SIGTSTP);
  expect_event(child, SIGTSTP);
  go_on(PTRACE_CONT, child, 0);
  interrupt(child);
  expect_event(child, SIGTSTP);
  end(child);
}

static void is_listened_to(void) {
  const pid_t child = group_stopped(SIGTSTP);
  listen_at(child);
  expect_nothing(child);
  interrupt(child);
  expect_event(child, SIGTSTP);
  listen_at(child);
  CHECK(kill(child, SIGCONT) == 0);
  expect_event(child, SIGTRAP);
  listen_at(child);
  expect_nothing(child);
  interrupt(child);
  expect_event(child, SIGTRAP);
  go_on(PTRACE_CONT, child, 0);
  expect_signal(child, SIGCONT);
  end(child);
}

/* SIGCONT goes to the group of the tracee. */
static void is_ended_for_the_group(void) {
  const pid_t child = seized();
  CHECK(kill(-child, SIGTTIN) == 0);
  expect_signal(child, SIGTTIN);
  go_on(PTRACE_CONT, child, SIGTTIN);
  expect_event(child, SIGTTIN);
  listen_at(child);
  CHECK(kill(-child, SIGCONT) == 0);
  expect_event(child, SIGTRAP);
  go_on(PTRACE_CONT, child, 0);
  expect_signal(child, SIGCONT);
  go_on(PTRACE_CONT, child, SIGCONT);
  expect_nothing(child);
  end(child);
}

static void is_continued_in_the_stop(int listens) {
  const pid_t child = group_stopped(SIGSTOP);
  CHECK(kill(child, SIGCONT) == 0);
  listens ? listen_at(child) : go_on(PTRACE_CONT, child, 0);
  expect_event(child, SIGTRAP);
  go_on(PTRACE_CONT, child, 0);
  expect_signal(child, SIGCONT);
  go_on(PTRACE_CONT, child, 0);
  expect_nothing(child);
  end(child);
}

/* Signals sent at a stop: they cancel each other, and come in the order of their numbers. */
static void signals_wait(int first, int second) {
  const pid_t child = seized();
  interrupt(child);
  expect_event(child, SIGTRAP);
  CHECK(kill(child, first) == 0 && kill(child, second) == 0 && kill(child, second) == 0);
  go_on(PTRACE_CONT, child, 0);
  if (first == SIGCONT || second == SIGCONT) {
    expect_event(child, SIGTRAP);
    go_on(PTRACE_CONT, child, 0);
  }
  expect_signal(child, second);
  go_on(PTRACE_CONT, child, 0);
  if (first == SIGUSR2) {
    expect_signal(child, first);
    go_on(PTRACE_CONT, child, 0);
  }
  expect_nothing(child);
  end(child);
}

/* SIGCONT between a stop signal's own stop and its effect. */
static void is_prevented(void) {
  const pid_t child = seized();
  CHECK(kill(child, SIGSTOP) == 0);
  expect_signal(child, SIGSTOP);
  CHECK(kill(child, SIGCONT) == 0);
  go_on(PTRACE_CONT, child, SIGSTOP);
  expect_event(child, SIGTRAP);
  go_on(PTRACE_CONT, child, 0);
  expect_signal(child, SIGCONT);
  go_on(PTRACE_CONT, child, 0);
  interrupt(child);
  expect_event(child, SIGTRAP);
  end(child);
}

/* The tracer may make a stop signal of another one, but not at a stop that is no signal's. */
static void is_begun_by_the_tracer(void) {
  const pid_t child = seized();
  CHECK(kill(child, SIGUSR1) == 0);
  expect_signal(child, SIGUSR1);
  go_on(PTRACE_CONT, child, SIGSTOP);
  expect_event(child, SIGSTOP);
  end(child);
  const pid_t other = seized();
  interrupt(other);
  expect_event(other, SIGTRAP);
  go_on(PTRACE_CONT, other, SIGSTOP);
  expect_nothing(other);
  end(other);
}

/* An interruption of a tracee that has stopped takes effect after that stop; several are one. */
static void interruptions_are_pending(void) {
  const pid_t child = seized();
  CHECK(kill(child, SIGUSR1) == 0);
  expect_signal(child, SIGUSR1);
  interrupt(child);
  interrupt(child);
  go_on(PTRACE_CONT, child, 0);
  expect_event(child, SIGTRAP);
  go_on(PTRACE_CONT, child, 0);
  expect_nothing(child);
  end(child);
}

int main(void) {
  alarm(60);
  lasts_until_continued(SIGSTOP);
  lasts_until_continued(SIGTSTP);
  is_followed_by_another();
  is_listened_to();
  is_ended_for_the_group();
  is_continued_in_the_stop(0);
  is_continued_in_the_stop(1);
  signals_wait(SIGSTOP, SIGCONT);
  signals_wait(SIGCONT, SIGTSTP);
  signals_wait(SIGCONT, SIGSTOP);
  signals_wait(SIGUSR2, SIGUSR1);
  is_prevented();
  is_begun_by_the_tracer();
  interruptions_are_pending();
  puts("stopped as a group");
  return 0;
}
