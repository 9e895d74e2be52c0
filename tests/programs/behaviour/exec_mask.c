/* The signal mask survives exec, including signals of faults, and so do the pending signals that it blocks. */
#include "check.h"

static char self[4096];

static void execute(char* how) {
  char* argv[] = {self, how, NULL};
  execv(self, argv);
  _exit(99);
}

static void on_fault(int number, siginfo_t* info, void* context) {
  (void)number, (void)info, (void)context;
  execute("fault");
}

/* A fault's handler executes a program, in which the fault's signal stays blocked. */
static void execute_from_handler(void) {
  on_signal(SIGSEGV, on_fault, 0);
  *(volatile int*)8 = 1;
}

static void execute_blocked(void) {
  sigset_t all;
  sigfillset(&all);
  CHECK(sigprocmask(SIG_SETMASK, &all, NULL) == 0);
  CHECK(raise(SIGSEGV) == 0 && raise(SIGTRAP) == 0 && raise(SIGUSR1) == 0);
  execute("all");
}

static void print_set(const char* name, const sigset_t* set, int wanted) {
  printf("%s:", name);
  for (int number = 1; number <= 64; number++)
    if (number != 32 && number != 33 && sigismember(set, number) == wanted) printf(" %d", number);
  puts("");
  CHECK(fflush(stdout) == 0);
}

static int executed(const char* how) {
  sigset_t mask, pending;
  CHECK(sigprocmask(SIG_BLOCK, NULL, &mask) == 0 && sigpending(&pending) == 0);
  const int all = strcmp(how, "all") == 0;
  for (int number = 1; number <= 64; number++) {
    if (number == 32 || number == 33) continue; /* the C library uses them */
    const int wanted = all ? number != SIGKILL && number != SIGSTOP : number == SIGSEGV;
    CHECK(sigismember(&mask, number) == wanted);
    const int waits = all && (number == SIGSEGV || number == SIGTRAP || number == SIGUSR1);
    CHECK(sigismember(&pending, number) == waits);
  }
  print_set("mask", &mask, !all);
  print_set("pending", &pending, 1);
  return 0;
}

int main(int argc, char** argv) {
  if (argc > 1) return executed(argv[1]);
  CHECK(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
  void (*ways[])(void) = {execute_from_handler, execute_blocked};
  for (int i = 0; i < 2; i++) {
    const pid_t child = fork();
    if (child == 0) ways[i]();
    expect_success(child);
  }
  return 0;
}
