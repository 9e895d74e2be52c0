/* Programs that cannot be executed: the caller gets the reason, and continues. */
#define _GNU_SOURCE
#include "check.h"

extern char** environ;
static char* arguments[] = {"x", NULL};

static long execute(const char* path) { return execve(path, arguments, environ); }

static void write_program(const char* path, const char* content) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0755);
  CHECK(fd >= 0 && write(fd, content, strlen(content)) == (ssize_t)strlen(content) && close(fd) == 0);
}

static void scripts(const char* path, const char* other) {
  char line[128];
  write_program(path, "#!/nonexistent\n");
  FAILS(execute(path), ENOENT);
  write_program(path, "#!/etc/passwd\n");
  FAILS(execute(path), EACCES);
  write_program(path, "#! \n");
  FAILS(execute(path), ENOEXEC);
  char large[400] = "#!/nonexistent";
  memset(large + 14, 'x', sizeof large - 15);
  write_program(path, large);
  FAILS(execute(path), ENOEXEC);
  large[256] = 0;
  write_program(path, large);
  FAILS(execute(path), ENOEXEC);
  large[255] = ' ';
  write_program(path, large);
  FAILS(execute(path), ENOENT);
  large[100] = ' ', large[255] = 'x', large[256] = 'x';
  write_program(path, large);
  FAILS(execute(path), ENOENT);
  snprintf(line, sizeof line, "#!%s\n", path);
  write_program(other, line);
  write_program(path, "#!/nonexistent/deeper\n");
  FAILS(execute(other), ENOENT);
  write_program(path, line);
  FAILS(execute(other), ELOOP);
}

/* The kernel truncates a long #! line. */
static void long_argument(const char* path) {
  int ends[2];
  char line[400] = "#!/bin/echo ", said[400] = "";
  memset(line + 12, 'x', sizeof line - 13);
  write_program(path, line);
  CHECK(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], 1);
    _exit((int)execute(path));
  }
  CHECK(close(ends[1]) == 0 && read(ends[0], said, sizeof said - 1) > 0 && close(ends[0]) == 0);
  expect_success(child);
  CHECK(strspn(said, "x") == 255 - 12);
}

int main(void) {
  char path[64], other[64];
  snprintf(path, sizeof path, "/tmp/reweave-exec-%d", getpid());
  snprintf(other, sizeof other, "/tmp/reweave-exec-%d-other", getpid());
  FAILS(execute("/nonexistent"), ENOENT);
  FAILS(execute("/tmp"), EACCES);
  FAILS(execute("/etc/passwd"), EACCES);
  FAILS(execute("/bin/true/x"), ENOTDIR);
  FAILS(execute((char*)8), EFAULT);
  FAILS(syscall(SYS_execve, "/bin/true", 8, environ), EFAULT);
  FAILS(syscall(SYS_execveat, -1, "x", arguments, environ, 0), EBADF);
  FAILS(syscall(SYS_execveat, AT_FDCWD, "/bin/true", arguments, environ, 0x999), EINVAL);
  write_program(path, "\177ELFgarbage");
  FAILS(execute(path), ENOEXEC);
  write_program(path, "");
  FAILS(execute(path), ENOEXEC);
  scripts(path, other);
  long_argument(path);
  CHECK(unlink(path) == 0 && mkfifo(path, 0700) == 0);
  FAILS(execute(path), EACCES);
  CHECK(unlink(path) == 0 && unlink(other) == 0);
  puts("still here");
  return 0;
}
