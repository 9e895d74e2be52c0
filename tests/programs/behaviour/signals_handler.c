/* Synchronously raised signals: SA_SIGINFO, masks, nesting, an alternate stack, one-shot handlers, pending sets. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char alternate[64 * 1024];
static int depth, nested = 1;

static void handler(int signo, siginfo_t* info, void* context) {
  (void)context;
  char here;
  int on_alternate = &here >= alternate && &here < alternate + sizeof alternate;
  printf("signal %d value %d from myself %d alternate stack %d depth %d\n", signo, info->si_value.sival_int,
         info->si_pid == getpid(), on_alternate, depth);
  if (signo == SIGUSR1 && !nested) {
    nested = 1;
    depth++;
    raise(SIGUSR2); /* not blocked: nests */
    raise(SIGUSR1); /* blocked: comes after the return */
    printf("back in the outer handler\n");
    depth--;
  }
}

static void install(int signo, int flags) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | flags;
  sigaction(signo, &action, NULL);
}

int main(void) {
  stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
  sigset_t set, pending;
  union sigval value = {.sival_int = 77};
  sigaltstack(&stack, NULL);
  install(SIGUSR2, SA_ONSTACK);
  install(SIGRTMIN, 0);
  sigqueue(getpid(), SIGRTMIN, value);
  raise(SIGUSR2);

  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  sigaddset(&set, SIGRTMIN);
  sigprocmask(SIG_BLOCK, &set, NULL);
  raise(SIGUSR2);
  for (int i = 0; i < 3; i++) {
    value.sival_int = i;
    sigqueue(getpid(), SIGRTMIN, value);
  }
  sigpending(&pending);
  printf("pending %d %d\n", sigismember(&pending, SIGUSR2), sigismember(&pending, SIGRTMIN));
  siginfo_t info;
  int got = sigwaitinfo(&set, &info);
  printf("waited for %d\n", got);
  sigprocmask(SIG_UNBLOCK, &set, NULL);
  printf("unblocked\n");
  nested = 0;
  install(SIGUSR1, 0);
  raise(SIGUSR1);
  install(SIGUSR1, SA_RESETHAND);
  raise(SIGUSR1);
  struct sigaction now;
  sigaction(SIGUSR1, NULL, &now);
  printf("reset to the default: %d\n", now.sa_handler == SIG_DFL);
  signal(SIGUSR1, SIG_IGN);
  raise(SIGUSR1);
  printf("ignored\n");
  return 0;
}
