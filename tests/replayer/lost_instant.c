/* Prints much, so that the reader of its output can hold a replay, then counts until a signal arrives. `left_over`
 * simulates memory that differs in a replay because of a defect. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

char left_over[8] = "as it is";
static volatile sig_atomic_t alarms;
static void on_alarm(int number) { alarms += number == SIGALRM; }

int main(void) {
  static char line[1024];
  memset(line, 'x', sizeof line);
  for (int i = 0; i < 512; i++)
    if (write(1, line, sizeof line) != sizeof line) return 1;
  signal(SIGALRM, on_alarm);
  const struct itimerval soon = {{0, 0}, {0, 50000}};
  setitimer(ITIMER_REAL, &soon, NULL);
  volatile long count = 0;
  while (alarms == 0) ++count;
  return left_over[0] == 'a' ? 0 : 1;
}
