/* Writes a byte to a pipe and reads it back, N times. Argument: N (1,000,000). */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  const long count = argc > 1 ? atol(argv[1]) : 1000000;
  char byte = 1;
  int ends[2];
  if (pipe(ends) != 0) return 2;
  for (long i = 0; i < count; i++)
    if (write(ends[1], &byte, 1) != 1 || read(ends[0], &byte, 1) != 1) return 3;
  printf("%ld\n", count);
  return 0;
}
