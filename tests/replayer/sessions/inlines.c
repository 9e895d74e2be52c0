// Optimised: inlined functions, tail calls, values in registers.
#include <stdlib.h>

volatile int sink;
volatile int source = 4;

static inline __attribute__((always_inline)) int square(int value) {
  int result = value * value;
  sink = result;
  return result;
}

__attribute__((noinline)) int outer(int value) {
  int first = square(value);
  sink++;
  return first + square(value + 1);
}

__attribute__((noinline)) int tail(int value) { return outer(value + 1); }

__attribute__((noinline)) int count(int rounds) {
  int sum = 0;
  for (int i = 0; i < rounds; i++) sum += source;
  return sum;
}

int main(void) {
  int total = outer(source);
  total += tail(source);
  total += count(1000);
  sink = total;
  return total == 4102 ? 0 : 1;
}
