// Looks at its arguments, its environment and its files.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char** environ;
static char folder[256];

static int count(char** words) {
  int number = 0;
  while (words[number] != NULL) number++;
  return number;
}

int main(int argc, char** argv) {
  int variables = count(environ);
  const char* home = getenv("HOME");
  char* where = getcwd(folder, sizeof folder);
  FILE* file = fopen("/dev/null", "r");
  fclose(file);
  return argc == 3 && variables > 0 && home != where ? 5 : 1;
}
