/* Asks for the time N times. Argument: N (1,000,000). */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char** argv) {
  const long count = argc > 1 ? atol(argv[1]) : 1000000;
  struct timespec now;
  long sum = 0;
  for (long i = 0; i < count; i++) {
    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0) return 2;
    sum |= now.tv_nsec;
  }
  printf("%d\n", sum != 0);
  return 0;
}
