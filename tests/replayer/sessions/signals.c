// Signals that the program sends to itself, with handlers. One handler leaves a fault with a jump.
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

volatile int seen;
static sigjmp_buf back;
static jmp_buf again;
static int* volatile nowhere;

static int seen_before;

static void on_user(int number) {
  seen_before = seen;
  seen += number;
}

static void on_fault(int number, siginfo_t* info, void* context) {
  (void)context;
  seen = info->si_addr == 0 ? number : -1;
  siglongjmp(back, 1);
}

static void leap(int value) {
  seen = value;
  longjmp(again, value);
}

static void raise_it(void) {
  raise(SIGUSR1);
  seen++;
}

int main(void) {
  struct sigaction action = {0};
  action.sa_handler = on_user;
  sigaction(SIGUSR1, &action, NULL);
  sigaction(SIGALRM, &action, NULL);
  raise_it();
  raise_it();
  kill(getpid(), SIGALRM);
  int before = seen;
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, NULL);
  if (sigsetjmp(back, 1) == 0) *nowhere = 1;
  int fault = seen;
  int leaps = setjmp(again);
  if (leaps < 3) leap(leaps + 1);
  signal(SIGTERM, SIG_IGN);
  raise(SIGTERM);
  return before == 36 && fault == SIGSEGV && seen == 3 ? 0 : 1;
}
