/* What a process sees of its child in /proc: mappings without Reweave's, but with the heap's name, and no descriptors
 * of Reweave's. */
#define _GNU_SOURCE
#include "check.h"

int main(void) {
  CHECK(malloc(100) != NULL);
  pid_t child = fork();
  if (child == 0)
    for (;;) pause();
  char path[64], line[512];
  snprintf(path, sizeof path, "/proc/%d/maps", child);
  FILE* maps = fopen(path, "r");
  CHECK(maps != NULL);
  int heaps = 0, own = 0;
  while (fgets(line, sizeof line, maps) != NULL) {
    heaps += strstr(line, "[heap]") != NULL;
    own += strstr(line, "child_looked_into") != NULL;
    CHECK(strstr(line, "reweave-core") == NULL);
  }
  CHECK(heaps == 1 && own > 2);
  int process = (int)syscall(SYS_pidfd_open, child, 0);
  CHECK(process >= 0);
  for (int fd = 990; fd < 1010; fd++) FAILS((int)syscall(SYS_pidfd_getfd, process, fd, 0), EBADF);
  CHECK(kill(child, SIGKILL) == 0 && WTERMSIG(status_of(child)) == SIGKILL);
  puts("only what is the child's");
  return 0;
}
