/* popen in both directions and system(). */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

int main(void) {
  char line[256];
  FILE* from = popen("echo one; echo two; echo pid $$", "r");
  if (!from) return 1;
  while (fgets(line, sizeof line, from)) printf("read %s", line);
  printf("closed with %d\n", WEXITSTATUS(pclose(from)));
  fflush(stdout);
  FILE* to = popen("cat", "w");
  if (!to) return 1;
  fprintf(to, "sent through cat\n");
  printf("closed with %d\n", WEXITSTATUS(pclose(to)));
  fflush(stdout);
  int status = system("exit 3");
  printf("system %d\n", WEXITSTATUS(status));
  return 0;
}
