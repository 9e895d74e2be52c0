/* vfork with exec, vfork with _exit, and an exec that fails. */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char** argv) {
  static volatile int shared;
  int status;
  if (argc > 1) {
    printf("executed %s in %d\n", argv[1], getpid());
    return 4;
  }
  pid_t child = vfork();
  if (child == 0) {
    shared = 1; /* in the parent's memory */
    execl("/proc/self/exe", argv[0], "child", (char*)NULL);
    _exit(1);
  }
  waitpid(child, &status, 0);
  printf("child %d status %d shared %d\n", child, WEXITSTATUS(status), shared);
  child = vfork();
  if (child == 0) {
    execl("/nonexistent/program", "program", (char*)NULL);
    shared = errno;
    _exit(5);
  }
  waitpid(child, &status, 0);
  printf("status %d errno %d\n", WEXITSTATUS(status), shared);
  return 0;
}
