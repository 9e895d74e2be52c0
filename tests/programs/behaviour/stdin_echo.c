/* Copies standard input to standard output, half with read and half with stdio, and counts it. */
#include <stdio.h>
#include <unistd.h>

int main(void) {
  char buffer[8];
  long raw = 0, buffered = 0;
  ssize_t got = read(0, buffer, sizeof buffer);
  if (got > 0) {
    raw = got;
    fwrite(buffer, 1, (size_t)got, stdout);
  }
  for (int c; (c = getchar()) != EOF; buffered++) putchar(c);
  printf("%ld bytes raw, %ld buffered\n", raw, buffered);
  return 0;
}
