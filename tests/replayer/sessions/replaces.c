// Executes itself.
#include <stdlib.h>
#include <unistd.h>

int turns = 1;

static int last_turn(int arguments) {
  turns = arguments;
  return turns + 3;
}

int main(int argc, char** argv) {
  if (argc > 1) return last_turn(argc);
  turns = 8;
  execl(argv[0], argv[0], "again", NULL);
  return 1;
}
