/* A program on a file system that only its own process has mounted is executed, and its replay finds it. */
#define _GNU_SOURCE
#include <sched.h>
#include <sys/mount.h>

#include "check.h"

static void copy(const char* from, const char* to) {
  static char bytes[1 << 20];
  int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT, 0755);
  for (ssize_t n; (n = read(in, bytes, sizeof bytes)) > 0;) CHECK(write(out, bytes, (size_t)n) == n);
  CHECK(close(in) == 0 && close(out) == 0);
}

static void execute_there(const char* folder) {
  if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return;  // not allowed here
  if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) return;                // in a chroot, / is not a mount
  CHECK(mount("tmpfs", folder, "tmpfs", 0, NULL) == 0 && chdir(folder) == 0);
  copy("/proc/self/exe", "program");
  pid_t child = fork();
  if (child == 0) {
    execl("./program", "program", "there", NULL);
    _exit(9);
  }
  expect_success(child);
}

int main(int count, char** arguments) {
  char folder[] = "/tmp/reweave-mounts-XXXXXX";
  if (count > 1 && strcmp(arguments[1], "there") == 0) return 0;
  CHECK(mkdtemp(folder) != NULL);
  pid_t child = fork();
  if (child == 0) {
    execute_there(folder);
    _exit(0);
  }
  expect_success(child);
  CHECK(rmdir(folder) == 0);
  puts("executed");
  return 0;
}
