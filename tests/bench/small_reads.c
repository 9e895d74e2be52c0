/* Measures the cost of one system call: reads FILE's first 64 bytes N times. Arguments: FILE, N (1,000,000). */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  char buffer[64];
  long count = argc > 2 ? atol(argv[2]) : 1000000, sum = 0;
  int fd = argc > 1 ? open(argv[1], O_RDONLY) : -1;
  if (fd < 0) return 2;
  for (long i = 0; i < count; i++) {
    if (pread(fd, buffer, sizeof buffer, 0) != sizeof buffer) return 3;
    sum += buffer[i & 63];
  }
  printf("%ld\n", sum);
  return 0;
}
