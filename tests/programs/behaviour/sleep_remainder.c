/* A sleep writes the remaining time only if it is interrupted: otherwise the address does not matter. */
#define _GNU_SOURCE
#include <sys/time.h>
#include <time.h>
#include "check.h"

static void nothing(int number, siginfo_t* info, void* context) { (void)number, (void)info, (void)context; }

int main(void) {
  struct timespec short_time = {0, 1000}, long_time = {20, 0}, left = {7, 7};
  struct timespec* const nowhere = (struct timespec*)16;
  CHECK(syscall(SYS_nanosleep, &short_time, nowhere) == 0);
  CHECK(syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &short_time, nowhere) == 0);
  CHECK(syscall(SYS_nanosleep, &short_time, &left) == 0 && left.tv_sec == 7);
  on_signal(SIGALRM, nothing, 0);
  CHECK(setitimer(ITIMER_REAL, &(struct itimerval){{0, 20000}, {0, 20000}}, NULL) == 0);
  FAILS(syscall(SYS_nanosleep, &long_time, &left), EINTR);
  printf("%ld\n", (long)left.tv_sec);
  FAILS(syscall(SYS_nanosleep, &long_time, nowhere), EFAULT);
  return 0;
}
