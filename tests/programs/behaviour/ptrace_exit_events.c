/* What a tracer sees when processes fork, execute and end: the order of the events, their messages and registers; ends
 * by a signal; PTRACE_O_EXITKILL. */
#define _GNU_SOURCE
#include "ptrace_check.h"

enum {
  kEvents = PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEVFORKDONE | PTRACE_O_TRACEEXEC |
            PTRACE_O_TRACEEXIT | PTRACE_O_EXITKILL
};

static int event_of(int event) { return SIGTRAP | event << 8; }

static unsigned long message_of(pid_t tracee) {
  unsigned long message = 0;
  CHECK(ptrace(PTRACE_GETEVENTMSG, tracee, NULL, &message) == 0);
  return message;
}

/* The tracee's call at a stop before its result is known. */
static long call_of(pid_t tracee) {
  const struct user_regs_struct r = registers_of(tracee);
  CHECK(r.rax == (unsigned long)-ENOSYS);
  return (long)r.orig_rax;
}

static pid_t traced(int options) {
  const pid_t child = fork_traced();
  if (child != 0) CHECK(ptrace(PTRACE_SETOPTIONS, child, NULL, (void*)(long)options) == 0);
  if (child != 0) go_on(PTRACE_CONT, child, 0);
  return child;
}

static void expect_exit_event(pid_t child, unsigned long message) {
  CHECK(stop_of(child) == event_of(PTRACE_EVENT_EXIT) && message_of(child) == message);
}

/* Follows a new process, whose parent has stopped at `event`, to its end. Returns its id. */
static pid_t follow_child(pid_t parent, int event, int status) {
  CHECK(stop_of(parent) == event_of(event));
  const pid_t child = (pid_t)message_of(parent);
  CHECK(stop_of(child) == SIGSTOP && registers_of(child).rax == 0);
  go_on(PTRACE_CONT, parent, 0);
  go_on(PTRACE_CONT, child, 0);
  expect_exit_event(child, (unsigned long)status << 8);
  CHECK(call_of(child) == SYS_exit_group);
  go_on(PTRACE_CONT, child, 0);
  return child;
}

static void expect_end(pid_t child, int code) {
  const int status = status_of(child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == code);
}

static void whole_life(const char* program) {
  const pid_t child = traced(kEvents);
  if (child == 0) {
    int status;
    pid_t made = fork();
    if (made == 0) _exit(3);
    CHECK(waitpid(made, &status, 0) == made);
    made = vfork();
    if (made == 0) _exit(4);
    CHECK(waitpid(made, &status, 0) == made);
    execl(program, program, "five", NULL);
    _exit(1);
  }
  const pid_t forked = follow_child(child, PTRACE_EVENT_FORK, 3);
  expect_end(forked, 3);
  CHECK(stop_of(child) == SIGCHLD);
  go_on(PTRACE_CONT, child, 0);
  const pid_t vforked = follow_child(child, PTRACE_EVENT_VFORK, 4);
  CHECK(stop_of(child) == event_of(PTRACE_EVENT_VFORK_DONE) && message_of(child) == (unsigned long)vforked);
  go_on(PTRACE_CONT, child, 0);
  expect_end(vforked, 4);
  CHECK(stop_of(child) == SIGCHLD);
  go_on(PTRACE_CONT, child, 0);
  CHECK(stop_of(child) == event_of(PTRACE_EVENT_EXEC) && message_of(child) == (unsigned long)child);
  CHECK(call_of(child) == SYS_execve);
  const struct user_regs_struct r = registers_of(child);
  CHECK(r.rbx == 0 && r.rcx == 0 && r.rdx == 0 && r.rsi == 0 && r.rdi == 0 && r.rbp == 0 && r.r8 == 0 && r.r11 == 0);
  CHECK(r.fs_base == 0 && r.gs_base == 0 && r.ds == 0 && r.es == 0 && r.eflags == 0x202);
  go_on(PTRACE_CONT, child, 0);
  expect_exit_event(child, 5 << 8);
  go_on(PTRACE_CONT, child, 0);
  expect_end(child, 5);
}

/* A signal that ends the tracee: its number is the message. */
static void killed(void) {
  const pid_t child = traced(PTRACE_O_TRACEEXIT);
  if (child == 0) {
    raise(SIGTERM);
    _exit(1);
  }
  CHECK(stop_of(child) == SIGTERM);
  CHECK(registers_of(child).rax == 0 && registers_of(child).orig_rax == SYS_tgkill); /* of raise */
  go_on(PTRACE_CONT, child, SIGTERM);
  expect_exit_event(child, SIGTERM);
  CHECK(registers_of(child).rax == 0 && registers_of(child).orig_rax == SYS_tgkill);
  go_on(PTRACE_CONT, child, 0);
  const int status = status_of(child);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

/* SIGKILL comes too late for a process that exits. */
static void killed_at_its_exit(void) {
  const pid_t child = traced(PTRACE_O_TRACEEXIT);
  if (child == 0) _exit(7);
  expect_exit_event(child, 7 << 8);
  go_on(PTRACE_CONT, child, SIGKILL);
  expect_end(child, 7);
}

/* The victim keeps the pipe open as long as it lives. */
static void ends_with_its_tracer(void) {
  int ends[2];
  char byte;
  CHECK(pipe(ends) == 0);
  const pid_t tracer = fork();
  if (tracer == 0) {
    const pid_t victim = fork();
    if (victim == 0)
      for (;;) pause();
    CHECK(ptrace(PTRACE_SEIZE, victim, NULL, PTRACE_O_EXITKILL) == 0);
    _exit(0);
  }
  CHECK(close(ends[1]) == 0);
  expect_success(tracer);
  CHECK(read(ends[0], &byte, 1) == 0 && close(ends[0]) == 0);
}

/* The new process of a seized one stops with an event. */
static void seized_from_the_start(void) {
  int go[2];
  char byte = 0;
  CHECK(pipe(go) == 0);
  const pid_t child = fork();
  if (child == 0) {
    CHECK(read(go[0], &byte, 1) == 1);
    const pid_t made = fork();
    if (made == 0) _exit(6);
    _exit(WEXITSTATUS(status_of(made)));
  }
  CHECK(ptrace(PTRACE_SEIZE, child, NULL, PTRACE_O_TRACEFORK) == 0);
  CHECK(write(go[1], &byte, 1) == 1);
  CHECK(stop_of(child) == event_of(PTRACE_EVENT_FORK));
  const pid_t made = (pid_t)message_of(child);
  CHECK(stop_of(made) == event_of(PTRACE_EVENT_STOP));
  const siginfo_t info = siginfo_of(made);
  CHECK(info.si_signo == SIGTRAP && info.si_code == event_of(PTRACE_EVENT_STOP) && info.si_pid == made);
  go_on(PTRACE_CONT, made, 0);
  expect_end(made, 6);
  go_on(PTRACE_CONT, child, 0);
  CHECK(stop_of(child) == SIGCHLD);
  go_on(PTRACE_CONT, child, SIGCHLD);
  expect_end(child, 6);
}

int main(int argc, char** argv) {
  if (argc > 1) return 5;
  alarm(60);
  whole_life(argv[0]);
  killed();
  killed_at_its_exit();
  ends_with_its_tracer();
  seized_from_the_start();
  puts("lived and ended");
  return 0;
}
