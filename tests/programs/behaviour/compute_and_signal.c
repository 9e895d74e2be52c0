/* A handler ends a loop of pure computation without calls. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

static volatile int stop;
static unsigned long rounds_at_signal;
static volatile unsigned long rounds;

static void on_alarm(int signo) {
  (void)signo;
  rounds_at_signal = rounds;
  stop = 1;
}

int main(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_alarm;
  sigaction(SIGALRM, &action, NULL);
  struct itimerval soon = {{0, 0}, {0, 2000}};
  setitimer(ITIMER_REAL, &soon, NULL);
  unsigned long value = 1;
  while (!stop) {
    value = value * 6364136223846793005ul + 1442695040888963407ul;
    rounds++;
  }
  printf("%lu rounds, %lu at the signal, value %lx\n", rounds, rounds_at_signal, value);
  return 0;
}
