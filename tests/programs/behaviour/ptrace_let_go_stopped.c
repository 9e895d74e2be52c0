/* A tracee that is detached while a group-stop is in effect stays stopped, whatever its last stop was; a new tracer
 * finds it in that stop. */
#define _GNU_SOURCE
#include "ptrace_check.h"

enum { kEventStop = 128 };

static char state_of(pid_t process) {
  char name[64], text[400] = "";
  snprintf(name, sizeof name, "/proc/%d/stat", (int)process);
  int fd = open(name, O_RDONLY);
  CHECK(fd >= 0 && read(fd, text, sizeof text - 1) > 0 && close(fd) == 0);
  return strrchr(text, ')')[2];
}

static void await_state(pid_t process, char wanted) {
  while (state_of(process) != wanted) usleep(1000);
}

/* In a group of its own, which is not orphaned: there, stop signals of the terminal would have no effect. */
static pid_t start(void) {
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child != 0) CHECK(setpgid(child, child) == 0);
  if (child == 0)
    for (;;) pause();
  return child;
}

static void end(pid_t child) { CHECK(kill(child, SIGKILL) == 0 && WIFSIGNALED(status_of(child))); }

/* Detached at an interruption, after it ran during the group-stop. */
static void at_an_interruption(int number) {
  const pid_t child = start();
  CHECK(ptrace(PTRACE_SEIZE, child, NULL, NULL) == 0 && kill(child, number) == 0);
  CHECK(stop_of(child) == number);
  go_on(PTRACE_CONT, child, number);
  CHECK(stop_of(child) == (number | kEventStop << 8));
  go_on(PTRACE_CONT, child, 0);
  CHECK(ptrace(PTRACE_INTERRUPT, child, NULL, NULL) == 0);
  CHECK(stop_of(child) == (number | kEventStop << 8));
  CHECK(ptrace(PTRACE_DETACH, child, NULL, NULL) == 0);
  await_state(child, 'T');
  CHECK(kill(child, SIGCONT) == 0);
  await_state(child, 'S');
  end(child);
}

/* Detached at another signal's stop. */
static void at_a_signal(void) {
  const pid_t child = start();
  CHECK(ptrace(PTRACE_SEIZE, child, NULL, NULL) == 0 && kill(child, SIGSTOP) == 0);
  CHECK(stop_of(child) == SIGSTOP);
  go_on(PTRACE_CONT, child, SIGSTOP);
  CHECK(stop_of(child) == (SIGSTOP | kEventStop << 8));
  go_on(PTRACE_CONT, child, 0);
  CHECK(kill(child, SIGUSR1) == 0 && stop_of(child) == SIGUSR1);
  CHECK(ptrace(PTRACE_DETACH, child, NULL, NULL) == 0);
  await_state(child, 'T');
  end(child);
}

/* Detached with a stop signal to deliver. */
static void with_a_stop_signal(void) {
  int status;
  const pid_t child = start();
  CHECK(ptrace(PTRACE_SEIZE, child, NULL, NULL) == 0 && kill(child, SIGSTOP) == 0);
  CHECK(stop_of(child) == SIGSTOP);
  CHECK(ptrace(PTRACE_DETACH, child, NULL, SIGSTOP) == 0);
  await_state(child, 'T');
  CHECK(waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
  end(child);
}

/* Detached before SIGSTOP was delivered; SIGCONT would cancel that. */
static void before_a_stop_signal(int continued) {
  const pid_t child = start();
  CHECK(ptrace(PTRACE_SEIZE, child, NULL, NULL) == 0 && ptrace(PTRACE_INTERRUPT, child, NULL, NULL) == 0);
  CHECK(stop_of(child) == (SIGTRAP | kEventStop << 8));
  CHECK(kill(child, SIGSTOP) == 0);
  if (continued) CHECK(kill(child, SIGCONT) == 0);
  CHECK(ptrace(PTRACE_DETACH, child, NULL, NULL) == 0);
  await_state(child, continued ? 'S' : 'T');
  end(child);
}

static void found_again(void) {
  int status;
  const pid_t child = start();
  CHECK(kill(child, SIGTSTP) == 0 && waitpid(child, &status, WUNTRACED) == child);
  CHECK(ptrace(PTRACE_SEIZE, child, NULL, NULL) == 0);
  CHECK(stop_of(child) == (SIGTSTP | kEventStop << 8));
  go_on(PTRACE_CONT, child, 0);
  CHECK(ptrace(PTRACE_INTERRUPT, child, NULL, NULL) == 0);
  CHECK(stop_of(child) == (SIGTSTP | kEventStop << 8));
  CHECK(ptrace(PTRACE_DETACH, child, NULL, NULL) == 0);
  await_state(child, 'T');
  CHECK(ptrace(PTRACE_ATTACH, child, NULL, NULL) == 0 && stop_of(child) == SIGTSTP);
  go_on(PTRACE_CONT, child, 0);
  CHECK(stop_of(child) == SIGSTOP); /* of PTRACE_ATTACH */
  end(child);
}

int main(void) {
  alarm(60);
  at_an_interruption(SIGSTOP);
  at_an_interruption(SIGTTIN);
  at_a_signal();
  with_a_stop_signal();
  before_a_stop_signal(0);
  before_a_stop_signal(1);
  found_again();
  puts("let go and stopped");
  return 0;
}
