/* Timers interrupt a loop of system calls and one of pure computation; prints where they arrived. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long position;
static volatile int alarms, expirations;
static unsigned long struck[64];

static void on_signal(int signo, siginfo_t* info, void* context) {
  (void)context;
  (void)info;
  if (alarms + expirations < 64) struck[alarms + expirations] = position;
  if (signo == SIGALRM)
    alarms++;
  else
    expirations++;
}

int main(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(SIGALRM, &action, NULL);
  sigaction(SIGRTMIN, &action, NULL);

  struct itimerval every = {{0, 2000}, {0, 2000}}, off = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &every, NULL);
  while (alarms < 5) {
    position++;
    if (getppid() < 0) break;
  }
  setitimer(ITIMER_REAL, &off, NULL);

  timer_t timer;
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};
  struct itimerspec often = {{0, 2000000}, {0, 2000000}};
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) return 1;
  timer_settime(timer, 0, &often, NULL);
  while (expirations < 5) {
    position++;
    if (position % 1000 == 0 && getppid() < 0) break;
  }
  timer_delete(timer);
  int total = alarms + expirations;
  for (int i = 0; i < total && i < 64; i++) printf("struck at %lu\n", struck[i]);
  printf("alarms %d expirations %d\n", alarms, expirations);
  return 0;
}
