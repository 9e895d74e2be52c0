/* Scripts executed by a descriptor: the name that they get. The descriptor must stay open. */
#define _GNU_SOURCE
#include "check.h"

static const char script[] = "#!/bin/sh\necho $0 $1\n";
static char* arguments[] = {"x", "given", NULL};

static int write_script(const char* path, int flags) {
  int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
  CHECK(fd >= 0 && write(fd, script, strlen(script)) == (ssize_t)strlen(script) && close(fd) == 0);
  return open(path, O_RDONLY | flags);
}

/* In a memory file, which is opened again, because a file open for writing cannot be executed. */
static int script_in_memory(void) {
  char path[64];
  int fd = memfd_create("script", MFD_CLOEXEC);
  CHECK(fd >= 0 && write(fd, script, strlen(script)) == (ssize_t)strlen(script));
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  int again = open(path, O_RDONLY);
  CHECK(again >= 0 && close(fd) == 0);
  return again;
}

/* The script must print its own name as "/dev/fd/FD", followed by `name`. */
static void run(int fd, const char* name, int flags) {
  int ends[2];
  char said[256] = "", wanted[256];
  CHECK(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], 1);
    syscall(SYS_execveat, fd, name, arguments, environ, flags);
    _exit(99);
  }
  CHECK(close(ends[1]) == 0 && read(ends[0], said, sizeof said - 1) > 0 && close(ends[0]) == 0);
  expect_success(child);
  snprintf(wanted, sizeof wanted, "/dev/fd/%d%s%s given\n", fd, *name != 0 ? "/" : "", name);
  fputs(said, stdout);
  CHECK(strcmp(said, wanted) == 0);
}

int main(void) {
  char folder[] = "/tmp/reweave-scripts-XXXXXX";
  CHECK(mkdtemp(folder) != NULL && chdir(folder) == 0);
  run(write_script("a", 0), "", AT_EMPTY_PATH);
  run(script_in_memory(), "", AT_EMPTY_PATH);
  run(open(".", O_RDONLY), "a", 0);
  int closed = write_script("a", O_CLOEXEC);
  FAILS(syscall(SYS_execveat, closed, "", arguments, environ, AT_EMPTY_PATH), ENOENT);
  FAILS(syscall(SYS_execveat, open(".", O_PATH | O_CLOEXEC), "a", arguments, environ, 0), ENOENT);
  CHECK(unlink("a") == 0);
  FAILS(syscall(SYS_execveat, closed, "", arguments, environ, AT_EMPTY_PATH), ENOENT);
  CHECK(rmdir(folder) == 0);
  return 0;
}
