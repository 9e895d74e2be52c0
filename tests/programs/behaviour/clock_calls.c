/* Prints readings of every clock; they change with every run, so a replay must give the recorded ones. */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>

int main(void) {
  static const clockid_t clocks[] = {CLOCK_REALTIME,        CLOCK_MONOTONIC,          CLOCK_MONOTONIC_RAW,
                                     CLOCK_BOOTTIME,        CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID,
                                     CLOCK_MONOTONIC_COARSE};
  struct timespec t;
  struct timeval v;
  struct rusage usage;
  struct tms tms;
  for (unsigned i = 0; i < sizeof clocks / sizeof *clocks; i++) {
    clock_gettime(clocks[i], &t);
    printf("clock %d: %ld.%09ld\n", clocks[i], (long)t.tv_sec, t.tv_nsec);
  }
  clock_getres(CLOCK_MONOTONIC, &t);
  printf("resolution %ld\n", t.tv_nsec);
  gettimeofday(&v, NULL);
  printf("gettimeofday %ld.%06ld\n", (long)v.tv_sec, (long)v.tv_usec);
  printf("time %ld clock %ld times %ld\n", (long)time(NULL), (long)clock(), (long)times(&tms));
  getrusage(RUSAGE_SELF, &usage);
  printf("user time %ld us, peak memory %ld\n", (long)usage.ru_utime.tv_usec, usage.ru_maxrss);
  for (int i = 0; i < 5; i++) {
    clock_gettime(CLOCK_MONOTONIC, &t);
    printf("again %ld\n", t.tv_nsec);
  }
  return 0;
}
