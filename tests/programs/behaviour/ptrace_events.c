/* PTRACE_O_TRACEFORK and the like: events, and children that are traced from their start. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include "ptrace_check.h"

static void* thread_work(void* arg) {
  sched_yield();
  return arg;
}

static int child_work(void) {
  pid_t forked = fork();
  if (forked == 0) _exit(11);
  int status = 0;
  if (waitpid(forked, &status, 0) != forked || WEXITSTATUS(status) != 11) return 1;
  pid_t vforked = vfork();
  if (vforked == 0) _exit(12);
  if (waitpid(vforked, &status, 0) != vforked || WEXITSTATUS(status) != 12) return 2;
  pthread_t thread;
  if (pthread_create(&thread, NULL, thread_work, NULL) != 0 || pthread_join(thread, NULL) != 0) return 3;
  return 4;
}

/* True for the calls in which a new task is still when it stops first. */
static int is_making(long call) {
  return call == SYS_clone || call == SYS_clone3 || call == SYS_fork || call == SYS_vfork;
}

int main(void) {
  pid_t child = fork_traced();
  if (child == 0) _exit(child_work());
  CHECK(ptrace(PTRACE_SETOPTIONS, child, NULL,
               PTRACE_O_EXITKILL | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
                   PTRACE_O_TRACEVFORKDONE | PTRACE_O_TRACEEXIT) == 0);
  go_on(PTRACE_CONT, child, 0);
  int events[16] = {0}, ended = 0, first_stops = 0, statuses = 0, status;
  pid_t thread = 0;
  unsigned long made[16] = {0}, message;
  for (;;) {
    pid_t who = waitpid(-1, &status, __WALL);
    if (who == -1) break;
    if (!WIFSTOPPED(status)) {
      ended++;
      if (who != thread) statuses += WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
      continue;
    }
    const int event = status >> 16;
    int resumed = 0;
    if (event != 0) {
      CHECK(WSTOPSIG(status) == SIGTRAP && siginfo_of(who).si_code == (SIGTRAP | event << 8));
      events[event]++;
      CHECK(ptrace(PTRACE_GETEVENTMSG, who, NULL, &message) == 0);
      if (event != PTRACE_EVENT_EXIT) made[event] = message;
      if (event == PTRACE_EVENT_CLONE) thread = (pid_t)message; /* it may end with the process */
    } else if (who != child && WSTOPSIG(status) == SIGSTOP) {
      const struct user_regs_struct r = registers_of(who);
      CHECK(r.rax == 0 && is_making((long)r.orig_rax));
      first_stops++;
    } else {
      resumed = WSTOPSIG(status);
    }
    go_on(PTRACE_CONT, who, resumed);
  }
  CHECK(errno == ECHILD);
  CHECK(events[PTRACE_EVENT_FORK] == 1 && events[PTRACE_EVENT_VFORK] == 1 && events[PTRACE_EVENT_CLONE] == 1);
  CHECK(events[PTRACE_EVENT_VFORK_DONE] == 1 && made[PTRACE_EVENT_VFORK_DONE] == made[PTRACE_EVENT_VFORK]);
  CHECK(events[PTRACE_EVENT_EXIT] == 4 && first_stops == 3);
  CHECK(ended == 4 && statuses == 11 + 12 + 4);
  puts("events seen");
  return 0;
}
