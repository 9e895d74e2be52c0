/* A tracer that attaches to a stopped process finds it in that stop. After detaching, the process stays stopped. */
#define _GNU_SOURCE
#include <sys/ptrace.h>

#include "check.h"

enum { kGroupStop = SIGSTOP | PTRACE_EVENT_STOP << 8 };

static pid_t start_stopped(void) {
  int status;
  pid_t child = fork();
  if (child == 0) {
    raise(SIGSTOP);
    _exit(7);
  }
  CHECK(waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
  return child;
}

static void expect_stop(pid_t child, int code) {
  int status;
  CHECK(waitpid(child, &status, 0) == child && WIFSTOPPED(status) && status >> 8 == code);
}

static void expect_end(pid_t child) {
  int status;
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

static void attach(pid_t child, int request, int code) {
  CHECK(ptrace(request, child, 0, 0) == 0);
  expect_stop(child, code);
}

static void is_let_go(int request, int code) {
  int status;
  pid_t child = start_stopped();
  attach(child, request, code);
  CHECK(ptrace(PTRACE_DETACH, child, 0, 0) == 0);
  usleep(50000);
  CHECK(waitpid(child, &status, WNOHANG) == 0);
  CHECK(kill(child, SIGCONT) == 0);
  expect_end(child);
}

/* The SIGSTOP of PTRACE_ATTACH comes after the stop that the process was already in. */
static void is_continued_after_attachment(void) {
  pid_t child = start_stopped();
  siginfo_t info;
  attach(child, PTRACE_ATTACH, SIGSTOP);
  CHECK(ptrace(PTRACE_GETSIGINFO, child, 0, &info) == -1 && errno == EINVAL);
  CHECK(ptrace(PTRACE_CONT, child, 0, 0) == 0);
  expect_stop(child, SIGSTOP);
  CHECK(ptrace(PTRACE_GETSIGINFO, child, 0, &info) == 0 && info.si_signo == SIGSTOP);
  CHECK(ptrace(PTRACE_CONT, child, 0, 0) == 0);
  expect_end(child);
}

static void is_continued_after_seizure(void) {
  pid_t child = start_stopped();
  attach(child, PTRACE_SEIZE, kGroupStop);
  CHECK(ptrace(PTRACE_CONT, child, 0, 0) == 0);
  expect_end(child);
}

/* A signal arrives before the process has noticed that it is no longer traced. */
static void is_ended_once_let_go(void) {
  int status;
  pid_t child = fork();
  if (child == 0)
    for (;;) pause();
  CHECK(kill(child, SIGSTOP) == 0 && waitpid(child, &status, WUNTRACED) == child);
  attach(child, PTRACE_ATTACH, SIGSTOP);
  CHECK(ptrace(PTRACE_DETACH, child, 0, SIGCONT) == 0);
  CHECK(kill(child, SIGCONT) == 0 && kill(child, SIGTERM) == 0);
  CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

static void listens(void) {
  pid_t child = start_stopped();
  attach(child, PTRACE_SEIZE, kGroupStop);
  CHECK(ptrace(PTRACE_LISTEN, child, 0, 0) == 0 && kill(child, SIGCONT) == 0);
  expect_stop(child, SIGTRAP | PTRACE_EVENT_STOP << 8);
  CHECK(ptrace(PTRACE_CONT, child, 0, 0) == 0);
  expect_stop(child, SIGCONT);
  CHECK(ptrace(PTRACE_CONT, child, 0, SIGCONT) == 0);
  expect_end(child);
}

/* SIGCONT comes between seizing and listening, as when strace starts. */
static void is_continued_before_its_tracer_listens(void) {
  pid_t child = start_stopped();
  CHECK(ptrace(PTRACE_SEIZE, child, 0, 0) == 0 && kill(child, SIGCONT) == 0);
  expect_stop(child, kGroupStop);
  CHECK(ptrace(PTRACE_LISTEN, child, 0, 0) == 0);
  expect_stop(child, SIGTRAP | PTRACE_EVENT_STOP << 8);
  CHECK(ptrace(PTRACE_CONT, child, 0, 0) == 0);
  expect_stop(child, SIGCONT);
  CHECK(ptrace(PTRACE_CONT, child, 0, SIGCONT) == 0);
  expect_end(child);
}

int main(void) {
  alarm(30);
  is_let_go(PTRACE_ATTACH, SIGSTOP);
  is_let_go(PTRACE_SEIZE, kGroupStop);
  is_continued_after_attachment();
  is_continued_after_seizure();
  listens();
  is_continued_before_its_tracer_listens();
  is_ended_once_let_go();
  puts("stopped throughout");
  return 0;
}
