/* Stopped and continued processes: by themselves, by the parent, several times; what wait reports. */
#define _GNU_SOURCE
#include "check.h"

static void stops_itself(int number) {
  pid_t child = fork();
  int status;
  if (child == 0) {
    setpgid(0, 0); /* with a parent in another group, so that it is not orphaned */
    CHECK(raise(number) == 0);
    _exit(3);
  }
  CHECK(waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status) && WSTOPSIG(status) == number);
  CHECK(waitpid(child, &status, WNOHANG | WUNTRACED) == 0);
  CHECK(kill(child, SIGCONT) == 0);
  status = status_of(child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
}

static void is_stopped(void) {
  int ends[2], status;
  siginfo_t info;
  CHECK(pipe(ends) == 0);
  pid_t child = fork();
  if (child == 0) {
    char byte;
    CHECK(read(ends[0], &byte, 1) == 1 && byte == 'x');
    CHECK(read(ends[0], &byte, 1) == 1 && byte == 'y');
    _exit(0);
  }
  CHECK(kill(child, SIGSTOP) == 0);
  CHECK(waitid(P_PID, (id_t)child, &info, WSTOPPED | WNOWAIT) == 0);
  CHECK(info.si_code == CLD_STOPPED && info.si_status == SIGSTOP && info.si_pid == child);
  CHECK(waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status));
  CHECK(write(ends[1], "x", 1) == 1);
  for (int i = 0; i < 3; i++) {
    CHECK(kill(child, SIGCONT) == 0);
    CHECK(waitid(P_PID, (id_t)child, &info, WCONTINUED) == 0 && info.si_code == CLD_CONTINUED);
    CHECK(kill(child, SIGSTOP) == 0);
    CHECK(waitid(P_PID, (id_t)child, &info, WSTOPPED) == 0 && info.si_code == CLD_STOPPED);
  }
  CHECK(write(ends[1], "y", 1) == 1 && kill(child, SIGCONT) == 0);
  expect_success(child);
}

static void is_killed_while_stopped(void) {
  int status;
  pid_t child = fork();
  if (child == 0) {
    raise(SIGSTOP);
    _exit(0);
  }
  CHECK(waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status));
  CHECK(kill(child, SIGKILL) == 0);
  status = status_of(child);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static volatile sig_atomic_t continued;
static void on_continue(int number, siginfo_t* info, void* context) {
  (void)number, (void)info, (void)context;
  continued++;
}

static void handles_the_continuation(void) {
  int status;
  pid_t child = fork();
  if (child == 0) {
    on_signal(SIGCONT, on_continue, 0);
    raise(SIGSTOP);
    CHECK(continued == 1);
    _exit(0);
  }
  CHECK(waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status));
  CHECK(kill(child, SIGCONT) == 0);
  expect_success(child);
}

/* Stop signals from the keyboard have no effect on an orphaned group. */
static void is_orphaned(void) {
  pid_t leader = fork();
  if (leader == 0) {
    int ends[2];
    char byte;
    CHECK(setsid() > 0 && pipe(ends) == 0);
    pid_t child = fork();
    if (child == 0) {
      CHECK(read(ends[0], &byte, 1) == 1 && raise(SIGTSTP) == 0);
      _exit(0);
    }
    CHECK(kill(child, SIGTSTP) == 0 && kill(child, SIGTTOU) == 0 && write(ends[1], "x", 1) == 1);
    expect_success(child);
    _exit(0);
  }
  expect_success(leader);
}

int main(void) {
  alarm(20);
  stops_itself(SIGSTOP);
  stops_itself(SIGTSTP);
  stops_itself(SIGTTIN);
  is_stopped();
  is_killed_while_stopped();
  handles_the_continuation();
  is_orphaned();
  puts("stopped and continued");
  return 0;
}
