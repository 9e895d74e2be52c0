/* PTRACE_SEIZE: no stop by itself; PTRACE_INTERRUPT, group-stops, PTRACE_LISTEN and SIGCONT. */
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

/* A tracee that is detached in a group-stop stays stopped until SIGCONT. */
static void stopped_by_detaching(void) {
  for (int continued = 0; continued < 2; continued++) {
    pid_t child = fork();
    if (child == 0) {
      for (int i = 0; i < 20; i++) usleep(1000);
      _exit(8);
    }
    CHECK(ptrace(PTRACE_SEIZE, child, NULL, NULL) == 0);
    kill(child, SIGSTOP);
    CHECK(stop_of(child) == SIGSTOP);
    go_on(PTRACE_CONT, child, SIGSTOP);
    CHECK(stop_of(child) == (SIGSTOP | kEventStop << 8));
    if (continued) kill(child, SIGCONT);
    CHECK(ptrace(PTRACE_DETACH, child, NULL, NULL) == 0);
    if (!continued) {
      while (state_of(child) != 'T') usleep(1000);
      kill(child, SIGCONT);
    }
    int status = status_of(child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 8);
  }
}

int main(void) {
  int pipe_of[2];
  char byte = 0;
  CHECK(pipe(pipe_of) == 0);
  pid_t child = fork();
  if (child == 0) _exit(read(pipe_of[0], &byte, 1) == 1 ? 5 : 1);
  FAILS(ptrace(PTRACE_SEIZE, child, 1, NULL), EIO);
  FAILS(ptrace(PTRACE_SEIZE, child, NULL, 1 << 30), EIO);
  CHECK(ptrace(PTRACE_SEIZE, child, NULL, PTRACE_O_TRACEEXIT) == 0);
  int status;
  CHECK(waitpid(child, &status, WNOHANG) == 0);
  FAILS(ptrace(PTRACE_GETREGS, child, NULL, &status), ESRCH);
  CHECK(ptrace(PTRACE_INTERRUPT, child, NULL, NULL) == 0);
  CHECK(stop_of(child) == (SIGTRAP | kEventStop << 8));
  CHECK(siginfo_of(child).si_code == (SIGTRAP | kEventStop << 8));
  FAILS(ptrace(PTRACE_SEIZE, child, NULL, NULL), EPERM);
  go_on(PTRACE_CONT, child, 0);

  kill(child, SIGSTOP);
  CHECK(stop_of(child) == SIGSTOP);
  CHECK(siginfo_of(child).si_code == SI_USER);
  FAILS(ptrace(PTRACE_LISTEN, child, NULL, NULL), EIO);
  go_on(PTRACE_CONT, child, SIGSTOP);
  CHECK(stop_of(child) == (SIGSTOP | kEventStop << 8));
  CHECK(ptrace(PTRACE_LISTEN, child, NULL, NULL) == 0);
  FAILS(ptrace(PTRACE_GETREGS, child, NULL, &status), ESRCH);
  CHECK(waitpid(child, &status, WNOHANG) == 0);
  CHECK(ptrace(PTRACE_INTERRUPT, child, NULL, NULL) == 0);
  CHECK(stop_of(child) == (SIGSTOP | kEventStop << 8)); /* the group-stop still holds */
  CHECK(ptrace(PTRACE_LISTEN, child, NULL, NULL) == 0);
  kill(child, SIGCONT);
  CHECK(stop_of(child) == (SIGTRAP | kEventStop << 8));
  go_on(PTRACE_CONT, child, 0);
  CHECK(stop_of(child) == SIGCONT);
  go_on(PTRACE_CONT, child, 0);
  CHECK(write(pipe_of[1], "x", 1) == 1);
  CHECK(stop_of(child) == (SIGTRAP | PTRACE_EVENT_EXIT << 8));
  CHECK(ptrace(PTRACE_DETACH, child, NULL, NULL) == 0);
  status = status_of(child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 5);

  stopped_by_detaching();

  /* Without PTRACE_SEIZE, a group-stop has no siginfo, and PTRACE_CONT ends it. */
  child = fork_traced();
  if (child == 0) {
    raise(SIGTSTP);
    _exit(6);
  }
  FAILS(ptrace(PTRACE_INTERRUPT, child, NULL, NULL), EIO);
  go_on(PTRACE_CONT, child, 0);
  CHECK(stop_of(child) == SIGTSTP);
  go_on(PTRACE_CONT, child, SIGTSTP);
  CHECK(stop_of(child) == SIGTSTP);
  siginfo_t info;
  FAILS(ptrace(PTRACE_GETSIGINFO, child, NULL, &info), EINVAL);
  go_on(PTRACE_CONT, child, 0);
  status = status_of(child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 6);
  puts("seized");
  return 0;
}
