// Timers interrupt a thread that only reads the clock. Its signals must come after the readings made before them. A
// process may also die of such a signal. The comparison includes its readings up to then.
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t signals;

static void arm(void) {
  const struct itimerval soon = {{0, 0}, {0, 20 + signals % 50}};
  setitimer(ITIMER_REAL, &soon, NULL);
}

static void on_alarm(int number) {
  (void)number;
  signals++;
  if (signals < 4000) arm();
}

static unsigned long read_until(int wanted) {
  unsigned long readings = 0, hash = 0;
  struct timespec now;
  for (int seen = 0; signals < wanted; readings++) {
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (signals != seen) hash = hash * 31 + readings;
    seen = signals;
  }
  return hash;
}

static void die_while_reading(int microseconds) {
  const struct itimerval soon = {{0, 0}, {0, microseconds}};
  struct timespec now;
  signal(SIGALRM, SIG_DFL);
  setitimer(ITIMER_REAL, &soon, NULL);
  for (;;) clock_gettime(CLOCK_MONOTONIC, &now);
}

int main(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_alarm;
  sigaction(SIGALRM, &action, NULL);
  arm();
  printf("%lx\n", read_until(4000));
  for (int i = 0; i < 20; i++) {
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) die_while_reading(300 + i * 37);
    int status;
    waitpid(child, &status, 0);
    printf("%d ", WTERMSIG(status));
  }
  printf("\n");
  return 0;
}
