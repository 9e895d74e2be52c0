// Variables of all kinds that change, to be watched.
#include <stdlib.h>
#include <string.h>

struct pair {
  int first;
  char second;
  long third;
};

int global;
int other = 5;
static struct pair both;
char* buffer;
int table[4];

static int change(int by) {
  int local = by;
  local += 2;
  local *= 3;
  global = local;
  return local;
}

static int read_it(void) { return other + global; }

static void fill(int* to, int value) { *to = value; }

int main(void) {
  int sum = 0;
  for (int i = 1; i <= 3; i++) sum += change(i);
  buffer = malloc(16);
  memset(buffer, 'x', 16);
  buffer[3] = 'y';
  both.first = 1;
  both.second = 'c';
  both.third = 1L << 40;
  sum += read_it();
  for (int i = 0; i < 4; i++) fill(&table[i], i * i);
  other = 5;
  other = 6;
  sum += read_it();
  free(buffer);
  buffer = NULL;
  return sum == 77 ? 0 : sum;
}
