/* Programs executed by a descriptor whose path leads nowhere, or to another file: their mount was removed, or is
 * covered by another. */
#define _GNU_SOURCE
#include <sched.h>
#include <sys/mount.h>
#include "check.h"

static void run(int program, const char* word) {
  char *arguments[] = {"echo", (char*)word, NULL}, *environment[] = {NULL};
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    syscall(SYS_execveat, program, "", arguments, environment, AT_EMPTY_PATH);
    _exit(99);
  }
  expect_success(child);
}

int main(void) {
  char folder[] = "/tmp/reweave-mounts-XXXXXX", name[64];
  CHECK(mkdtemp(folder) != NULL);
  const int known = open("/bin/echo", O_RDONLY | O_CLOEXEC);
  run(known, "by its name");
  if ((unshare(CLONE_NEWNS) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0) &&
      mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 && mount("/bin", folder, NULL, MS_BIND, NULL) == 0) {
    snprintf(name, sizeof name, "%s/echo", folder);
    const int program = open(name, O_RDONLY | O_CLOEXEC);
    CHECK(program >= 0);
    run(program, "bound");
    CHECK(mount("tmpfs", folder, "tmpfs", 0, NULL) == 0);
    run(program, "covered");
    CHECK(mount("/dev/null", "/bin/echo", NULL, MS_BIND, NULL) == 0);
    run(known, "covered by a file");
  }
  rmdir(folder);
  return 0;
}
