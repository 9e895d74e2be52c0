/* Masks while a handler runs, SA_NODEFER, SA_RESETHAND, handlers within handlers, siglongjmp out of one. */
#define _GNU_SOURCE
#include <setjmp.h>
#include "check.h"

static volatile char trail[64];
static volatile int length;
static void add(char c) {
  trail[length] = c;
  trail[++length] = 0;
}
static void clear(void) {
  length = 0;
  trail[0] = 0;
}

static void blocked_while_handled(int number, siginfo_t* info, void* context) {
  static int depth;
  sigset_t now, pending;
  (void)info, (void)context;
  add('(');
  CHECK(sigprocmask(SIG_BLOCK, NULL, &now) == 0 && sigismember(&now, number) == 1);
  if (depth++ == 0) {
    raise(number);
    CHECK(sigpending(&pending) == 0 && sigismember(&pending, number) == 1);
  }
  add(')');
}

static void reentered(int number, siginfo_t* info, void* context) {
  static int depth;
  (void)info, (void)context;
  add('(');
  if (depth++ < 2) raise(number);
  add(')');
}

static void raises_other(int number, siginfo_t* info, void* context) {
  (void)number, (void)info, (void)context;
  add('[');
  raise(SIGUSR2);
  add(']');
}

static sigjmp_buf back;
static void jumps(int number, siginfo_t* info, void* context) {
  (void)info, (void)context;
  siglongjmp(back, number);
}

int main(void) {
  sigset_t now;
  on_signal(SIGUSR1, blocked_while_handled, 0);
  raise(SIGUSR1);
  CHECK(strcmp((const char*)trail, "()()") == 0);
  clear();
  on_signal(SIGUSR1, reentered, SA_NODEFER);
  raise(SIGUSR1);
  CHECK(strcmp((const char*)trail, "((()))") == 0);
  clear();

  struct sigaction action = {.sa_sigaction = raises_other, .sa_flags = SA_SIGINFO};
  CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
  struct sigaction old;
  on_signal(SIGUSR2, blocked_while_handled, SA_RESETHAND);
  raise(SIGUSR1);
  CHECK(strcmp((const char*)trail, "[()]") == 0);
  CHECK(sigaction(SIGUSR2, NULL, &old) == 0 && old.sa_handler == SIG_DFL);
  clear();

  on_signal(SIGUSR2, reentered, SA_NODEFER);
  sigaddset(&action.sa_mask, SIGUSR2);
  CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
  raise(SIGUSR1);
  CHECK(strcmp((const char*)trail, "[]()") == 0);

  on_signal(SIGUSR1, jumps, 0);
  for (int i = 0; i < 20; i++) {
    if (sigsetjmp(back, 1) == 0) raise(SIGUSR1), CHECK(!"reached");
    CHECK(sigprocmask(SIG_BLOCK, NULL, &now) == 0 && sigismember(&now, SIGUSR1) == 0);
  }
  if (sigsetjmp(back, 0) == 0) raise(SIGUSR1), CHECK(!"reached");
  CHECK(sigprocmask(SIG_BLOCK, NULL, &now) == 0 && sigismember(&now, SIGUSR1) == 1);
  puts("nested handlers");
  return 0;
}
