/* A lease: a call that would write the file waits until the holder, notified by a signal, gives up the lease. */
#define _GNU_SOURCE
#include "check.h"

static volatile sig_atomic_t broken, code;
static void on_break(int number, siginfo_t* info, void* context) {
  (void)number, (void)context;
  broken = 1;
  code = info->si_code;
}

static int opens(const char* name) { return open(name, O_WRONLY) >= 0; }
static int creates(const char* name) { return creat(name, 0600) >= 0; }
static int truncates(const char* name) { return truncate(name, 0) == 0; }

static void is_broken_by(int (*writes)(const char*), const char* name, int fd) {
  broken = 0;
  CHECK(fcntl(fd, F_SETSIG, SIGRTMIN + 1) == 0); /* each lease resets it */
  CHECK(fcntl(fd, F_SETLEASE, F_RDLCK) == 0 && fcntl(fd, F_GETLEASE) == F_RDLCK);
  pid_t child = fork();
  if (child == 0) _exit(!writes(name));
  while (!broken) usleep(1000);
  CHECK(code == POLL_MSG && fcntl(fd, F_SETLEASE, F_UNLCK) == 0);
  expect_success(child);
  CHECK(fcntl(fd, F_GETLEASE) == F_UNLCK);
}

int main(void) {
  char name[] = "/tmp/reweave-lease-XXXXXX";
  alarm(20);
  close(mkstemp(name));
  int fd = open(name, O_RDONLY);
  on_signal(SIGRTMIN + 1, on_break, 0);
  CHECK(fd >= 0);
  if (fcntl(fd, F_SETLEASE, F_RDLCK) != 0) {
    printf("no lease: %s\n", strerror(errno));
    return unlink(name);
  }
  CHECK(fcntl(fd, F_SETLEASE, F_UNLCK) == 0);
  is_broken_by(opens, name, fd);
  is_broken_by(creates, name, fd);
  is_broken_by(truncates, name, fd);
  CHECK(unlink(name) == 0);
  puts("given up");
  return 0;
}
