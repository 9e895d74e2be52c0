/* Programs that cannot be executed: the caller is told why, and goes on. */
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
  snprintf(line, sizeof line, "#!%s\n", path);
  write_program(other, line);
  write_program(path, "#!/nonexistent/deeper\n");
  FAILS(execute(other), ENOENT);
  write_program(path, line);
  FAILS(execute(other), ELOOP);
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
  CHECK(unlink(path) == 0 && mkfifo(path, 0700) == 0);
  FAILS(execute(path), EACCES);
  CHECK(unlink(path) == 0 && unlink(other) == 0);
  puts("still here");
  return 0;
}
