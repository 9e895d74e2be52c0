/*
 * Calls that do not sleep never fail with EINTR, whenever signals arrive. close always closes its descriptor.
 * A child sends SIGUSR1, handled without SA_RESTART, while the parent works with files and descriptors.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t arrived;

static void count(int number) {
  (void)number;
  arrived++;
}

static void require(int condition, const char* what) {
  if (condition) return;
  fprintf(stderr, "%s: %s\n", what, strerror(errno));
  exit(1);
}

static void pester(pid_t parent) {
  for (int i = 0; i < 200; i++) {
    if (kill(parent, SIGUSR1) != 0) _exit(2);
    usleep(10);
  }
  _exit(0);
}

int main(void) {
  struct sigaction action = {.sa_handler = count};
  sigaction(SIGUSR1, &action, NULL);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) pester(parent);
  int rounds = 0;
  pid_t ended = 0;
  while (ended == 0) {
    int ends[2];
    struct stat status;
    require(pipe(ends) == 0, "pipe");
    require(fstat(ends[0], &status) == 0, "fstat");
    require(close(ends[1]) == 0, "close");
    char byte;
    require(read(ends[0], &byte, 1) == 0 || errno == EINTR, "read");
    require(close(ends[0]) == 0, "close");
    const int file = open("/dev/null", O_RDWR);
    require(file >= 0, "open");
    require(fcntl(file, F_GETFD) == 0, "fcntl");
    require(close(file) == 0, "close");
    ended = waitpid(child, NULL, WNOHANG);
    require(ended >= 0, "waitpid");
    rounds++;
  }
  printf("%s\n", rounds > 0 && arrived > 0 ? "no call was interrupted" : "no signal came");
  return 0;
}
