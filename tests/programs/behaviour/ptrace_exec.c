/* A traced process that executes a program stops after it, with SIGTRAP or the requested event; tracing continues in
 * the new image. */
#define _GNU_SOURCE
#include <pthread.h>
#include "ptrace_check.h"

static void execute(const char* how) {
  char* argv[] = {"ptrace_exec", (char*)how, NULL};
  execv("/proc/self/exe", argv);
  _exit(99);
}

static void* execute_elsewhere(void* arg) {
  execute("eight");
  return arg;
}

/* The event message is the former id of the executing thread. The process keeps its id. */
static void by_another_thread(void) {
  pid_t child = fork_traced();
  if (child == 0) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, execute_elsewhere, NULL) == 0);
    for (;;) pause();
  }
  CHECK(ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_TRACEEXEC | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL) == 0);
  go_on(PTRACE_CONT, child, 0);
  unsigned long made = 0, message = 0;
  int status, execs = 0;
  for (;;) {
    pid_t who = waitpid(-1, &status, __WALL);
    if (who == child && !WIFSTOPPED(status)) break;
    if (!WIFSTOPPED(status)) continue;
    if (status >> 16 == PTRACE_EVENT_CLONE) CHECK(ptrace(PTRACE_GETEVENTMSG, who, NULL, &made) == 0);
    if (status >> 16 == PTRACE_EVENT_EXEC) {
      CHECK(who == child && ptrace(PTRACE_GETEVENTMSG, who, NULL, &message) == 0);
      CHECK(message == made && made != 0);
      execs++;
    }
    CHECK(ptrace(PTRACE_CONT, who, NULL, NULL) == 0 || errno == ESRCH);
  }
  CHECK(execs == 1 && WIFEXITED(status) && WEXITSTATUS(status) == 8);
}

int main(int argc, char** argv) {
  if (argc > 1) {
    raise(SIGUSR1); /* fatal, but suppressed */
    return strcmp(argv[1], "seven") == 0 ? 7 : 8;
  }
  pid_t child = fork();
  if (child == 0) {
    signal(SIGUSR2, SIG_IGN);
    CHECK(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0);
    execute("seven");
  }
  CHECK(stop_of(child) == SIGTRAP);
  siginfo_t info = siginfo_of(child);
  CHECK(info.si_signo == SIGTRAP && info.si_code == SI_USER && info.si_pid == child);
  struct user_regs_struct r = registers_of(child);
  CHECK(r.rip != 0 && r.rsp % 16 == 0 && r.rbx == 0 && r.r15 == 0);
  errno = 0;
  CHECK(ptrace(PTRACE_PEEKDATA, child, r.rsp, NULL) == 2 && errno == 0); /* argc */
  go_on(PTRACE_CONT, child, 0);
  CHECK(stop_of(child) == SIGUSR1);
  go_on(PTRACE_CONT, child, 0);
  int status = status_of(child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);

  child = fork_traced();
  if (child == 0) execute("eight");
  CHECK(ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXIT) == 0);
  int execs = 0, exits_of_exec = 0, exit_events = 0;
  for (;;) {
    go_on(PTRACE_SYSCALL, child, 0);
    CHECK(waitpid(child, &status, 0) == child);
    if (!WIFSTOPPED(status)) break;
    const int stop = status >> 8;
    unsigned long message = 0;
    CHECK(ptrace(PTRACE_GETEVENTMSG, child, NULL, &message) == 0);
    if (stop == (SIGTRAP | PTRACE_EVENT_EXEC << 8)) {
      CHECK(message == (unsigned long)child && registers_of(child).rax == (unsigned long)-ENOSYS);
      execs++;
    } else if (stop == (SIGTRAP | PTRACE_EVENT_EXIT << 8)) {
      CHECK(message == 8 << 8);
      exit_events++;
    } else if (stop == (SIGTRAP | 0x80)) {
      r = registers_of(child);
      if (execs == 1 && r.orig_rax == SYS_execve && r.rax == 0) exits_of_exec++;
    } else {
      CHECK(stop == SIGUSR1);
    }
  }
  CHECK(execs == 1 && exits_of_exec == 1 && exit_events == 1);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 8);
  by_another_thread();
  puts("executed");
  return 0;
}
