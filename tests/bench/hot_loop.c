/* A loop of a few nanoseconds per turn, until an alarm. A replay has to find the turn at which the alarm arrived. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

static volatile sig_atomic_t over;
static uint64_t table[1 << 12];

static void on_alarm(int number) {
  (void)number;
  over = 1;
}

int main(int argc, char** argv) {
  const long milliseconds = argc > 1 ? atol(argv[1]) : 1000;
  const struct itimerval once = {{0, 0}, {milliseconds / 1000, milliseconds % 1000 * 1000}};
  uint64_t x = 1, turns = 0;
  signal(SIGALRM, on_alarm);
  if (setitimer(ITIMER_REAL, &once, NULL) != 0) return 1;
  for (; !over; turns++) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    table[x >> 52] ^= x;
  }
  printf("%llu turns\n", (unsigned long long)turns);
  return 0;
}
