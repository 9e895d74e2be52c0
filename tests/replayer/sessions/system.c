// System calls of several kinds.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

char received[16];
int failure;

static int through_pipe(void) {
  int ends[2];
  if (pipe(ends) != 0) return -1;
  ssize_t written = write(ends[1], "12345", 5);
  ssize_t got = read(ends[0], received, sizeof received);
  close(ends[0]);
  close(ends[1]);
  return (int)(written + got);
}

static int open_nothing(void) {
  int fd = open("/nowhere/at/all", O_RDONLY);
  failure = errno;
  return fd;
}

int main(void) {
  int bytes = through_pipe();
  int opened = open_nothing();
  struct timespec moment = {0, 1000000};
  nanosleep(&moment, NULL);
  pid_t id = getpid();
  long same = syscall(SYS_getpid);
  getppid();
  return bytes == 10 && opened == -1 && failure == ENOENT && id == same ? 0 : 1;
}
