/* Correct twin of fork_order: the child stores its result first. Also checks that a child's end ends its pipe, the
 * wait statuses of children that exit or are killed, and that waiting without a child fails.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static int ends[2];

static void check_end(void) {
  char rest[8];
  close(ends[1]);
  if (read(ends[0], rest, sizeof rest) != 0) abort();
}

static void check_killed(void) {
  int status = 0;
  pid_t child = fork();
  if (child == 0)
    for (;;) pause();
  if (kill(child, SIGTERM) != 0 || waitpid(child, &status, 0) != child) abort();
  if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGTERM) abort();
  if (waitpid(-1, &status, 0) != -1 || errno != ECHILD) abort();
  if (kill(child, 0) != -1 || errno != ESRCH) abort();
}

int main(void) {
  int* result = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (result == MAP_FAILED || pipe(ends) != 0) abort();
  pid_t child = fork();
  if (child == 0) {
    *result = getppid();
    if (write(ends[1], "r", 1) != 1) _exit(2);
    _exit(7);
  }
  char ready = 0;
  if (read(ends[0], &ready, 1) != 1) abort();
  int seen = *result;
  siginfo_t info = {0};
  if (waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) != 0) abort();
  if (info.si_pid != child || info.si_code != CLD_EXITED || info.si_status != 7) abort();
  int status = 0;
  if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 7) abort();
  check_end();
  check_killed();
  printf("%s\n", seen == getpid() ? "passed" : "failed");
  return seen == getpid() ? 0 : 1;
}
