/* Dies of the signal that the argument names: segv, abort, term, kill, fpe. Without an argument a child dies of each.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void die(const char* how) {
  struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  if (strcmp(how, "segv") == 0) *(volatile int*)8 = 1;
  if (strcmp(how, "abort") == 0) abort();
  if (strcmp(how, "term") == 0) raise(SIGTERM);
  if (strcmp(how, "kill") == 0) kill(getpid(), SIGKILL);
  if (strcmp(how, "fpe") == 0) raise(SIGFPE);
}

int main(int argc, char** argv) {
  static const char* const ways[] = {"segv", "abort", "term", "kill", "fpe"};
  if (argc > 1) {
    printf("dying by %s\n", argv[1]);
    fflush(stdout);
    die(argv[1]);
    return 2;
  }
  for (unsigned i = 0; i < sizeof ways / sizeof *ways; i++) {
    int status;
    pid_t child = fork();
    if (child == 0) {
      die(ways[i]);
      _exit(99);
    }
    waitpid(child, &status, 0);
    printf("%s: signalled %d by %d\n", ways[i], WIFSIGNALED(status), WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    fflush(stdout);
  }
  return 0;
}
