/* Every signal that kills by default, by raise and by an instruction: wait status, core flag, and a later exec. */
#define _GNU_SOURCE
#include <sys/resource.h>
#include "check.h"

static volatile int zero;

static void cause(int how) {
  switch (how) {
    case SIGSEGV:
      *(volatile int*)(uintptr_t)(8 + zero) = 1;
      break;
    case SIGFPE:
      zero = 100 / zero;
      break;
    case SIGILL:
      __asm__ volatile("ud2");
      break;
    case SIGTRAP:
      __asm__ volatile("int3");
      break;
    case SIGABRT:
      abort();
    default:
      raise(how);
  }
}

static int death(int number, int by_instruction) {
  pid_t child = fork();
  if (child == 0) {
    signal(number, SIG_DFL); /* a shell starts background commands with SIGINT and SIGQUIT ignored */
    if (by_instruction)
      cause(number);
    else
      kill(getpid(), number);
    _exit(1);
  }
  return status_of(child);
}

static void ignored_fault(void) {
  pid_t child = fork();
  if (child == 0) {
    signal(SIGSEGV, SIG_IGN);
    raise(SIGSEGV);
    CHECK(write(1, "ignored\n", 8) == 8);
    cause(SIGSEGV);
  }
  int status = status_of(child);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

static void fault_in_the_handler(int number, siginfo_t* info, void* context) {
  (void)number, (void)info, (void)context;
  cause(SIGSEGV);
}

static void twice(void) {
  pid_t child = fork();
  if (child == 0) {
    on_signal(SIGSEGV, fault_in_the_handler, 0);
    cause(SIGSEGV);
  }
  int status = status_of(child);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

static void no_stack_for_the_handler(void) {
  pid_t child = fork();
  if (child == 0) {
    on_signal(SIGUSR1, fault_in_the_handler, 0);
    long pid = getpid();
    __asm__ volatile("mov $16, %%rsp\n syscall\n hlt" ::"a"((long)SYS_kill), "D"(pid), "S"((long)SIGUSR1));
  }
  int status = status_of(child);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

int main(void) {
  struct rlimit none = {0, 0};
  CHECK(setrlimit(RLIMIT_CORE, &none) == 0);
  const int fatal[] = {SIGHUP,    SIGINT,  SIGQUIT, SIGILL,  SIGTRAP, SIGABRT,   SIGBUS,  SIGFPE,  SIGKILL,
                       SIGUSR1,   SIGSEGV, SIGUSR2, SIGPIPE, SIGALRM, SIGSTKFLT, SIGTERM, SIGXCPU, SIGXFSZ,
                       SIGVTALRM, SIGPROF, SIGIO,   SIGPWR,  SIGSYS,  SIGRTMIN,  SIGRTMAX};
  for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++) {
    int status = death(fatal[i], 0);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == fatal[i] && !WCOREDUMP(status));
  }
  const int caused[] = {SIGSEGV, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
  for (size_t i = 0; i < sizeof caused / sizeof *caused; i++) {
    int status = death(caused[i], 1);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == caused[i]);
  }
  ignored_fault();
  twice();
  no_stack_for_the_handler();
  puts("all died as they should");
  return 0;
}
