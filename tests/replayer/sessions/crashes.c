// Dies.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct account {
  int balance;
};

static int read_balance(const struct account* from) { return from->balance; }

static int sum(struct account** accounts, int count) {
  int total = 0;
  for (int i = 0; i < count; i++) total += read_balance(accounts[i]);
  return total;
}

int main(int argc, char** argv) {
  struct account one = {100};
  struct account* accounts[] = {&one, NULL};
  if (argc > 1 && strcmp(argv[1], "assert") == 0) assert(one.balance == 0);
  return sum(accounts, 2);
}
