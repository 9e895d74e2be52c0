/* clone's flags for tracers: CLONE_UNTRACED hides the child, CLONE_PTRACE makes it a tracee without an event. */
#define _GNU_SOURCE
#include <sched.h>
#include "ptrace_check.h"

static int make_child(unsigned long flags) {
  long child = syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL);
  if (child == 0) _exit(7);
  int status;
  CHECK(waitpid((pid_t)child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
  return 3;
}

/* Counts the event stops of a process that creates a child with these flags, and the first stops of other tracees. */
static void stops_with(unsigned long flags, long options, int* events, int* first_stops) {
  pid_t child = fork_traced();
  if (child == 0) _exit(make_child(flags));
  CHECK(ptrace(PTRACE_SETOPTIONS, child, NULL, (void*)(options | PTRACE_O_EXITKILL)) == 0);
  go_on(PTRACE_CONT, child, 0);
  int status;
  *events = *first_stops = 0;
  for (;;) {
    pid_t who = waitpid(-1, &status, __WALL);
    CHECK(who > 0);
    if (!WIFSTOPPED(status)) {
      if (who == child) break;
      continue;
    }
    const int is_first = who != child && WSTOPSIG(status) == SIGSTOP;
    const int is_event = status >> 16 != 0;
    *events += is_event;
    *first_stops += is_first;
    go_on(PTRACE_CONT, who, is_event || is_first ? 0 : WSTOPSIG(status));
  }
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
}

int main(void) {
  int events, first_stops;
  stops_with(CLONE_UNTRACED, PTRACE_O_TRACEFORK | PTRACE_O_TRACECLONE, &events, &first_stops);
  CHECK(events == 0 && first_stops == 0);
  stops_with(CLONE_PTRACE, 0, &events, &first_stops);
  CHECK(events == 0 && first_stops == 1);
  stops_with(CLONE_PTRACE | CLONE_UNTRACED, PTRACE_O_TRACEFORK, &events, &first_stops);
  CHECK(events == 0 && first_stops == 1);
  stops_with(0, PTRACE_O_TRACEFORK, &events, &first_stops);
  CHECK(events == 1 && first_stops == 1);
  puts("traced");
  return 0;
}
