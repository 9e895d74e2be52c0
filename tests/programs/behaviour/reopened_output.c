/* Standard output, reopened by its names: a replay also repeats what is written there. */
#define _GNU_SOURCE
#include <sys/resource.h>
#include <sys/uio.h>
#include "check.h"
#include "pass_descriptor.h"

static void say(const char* path, const char* words) {
  int fd = open(path, O_WRONLY | O_APPEND);
  if (fd < 0) return; /* a socket cannot be opened by such a name */
  CHECK(write(fd, words, strlen(words)) == (ssize_t)strlen(words));
  int twin = dup(fd);
  CHECK(close(fd) == 0 && write(twin, "again\n", 6) == 6 && close(twin) == 0);
}

/* Sent through a socket, to itself and to a child without standard output; and taken with pidfd_getfd. */
static void handed_over(void) {
  int ends[2];
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  send_descriptor(ends[0], 1);
  int own = receive_descriptor(ends[1]);
  CHECK(write(own, "received\n", 9) == 9 && close(own) == 0);
  pid_t child = fork();
  if (child == 0) {
    CHECK(close(1) == 0);
    int only = receive_descriptor(ends[1]);
    CHECK(write(only, "received by a child\n", 20) == 20);
    _exit(0);
  }
  send_descriptor(ends[0], 1);
  expect_success(child);
  int self = (int)syscall(SYS_pidfd_open, getpid(), 0);
  int taken = (int)syscall(SYS_pidfd_getfd, self, 1, 0);
  CHECK(taken < 0 || write(taken, "taken\n", 6) == 6);
}

/* As a descriptor number that few programs use. */
static void far_away(void) {
  const struct rlimit room = {10000, 10000};
  if (setrlimit(RLIMIT_NOFILE, &room) != 0) return;
  CHECK(dup2(1, 9000) == 9000 && write(9000, "far away\n", 9) == 9);
  int farther = fcntl(9000, F_DUPFD, 9500);
  CHECK(close(1) == 0 && write(farther, "farther\n", 8) == 8);
  CHECK(dup2(9000, 1) == 1 && close_range(9000, 9999, 0) == 0);
  CHECK(dup2(open("/dev/null", O_WRONLY), 9000) == 9000 && write(9000, "nowhere\n", 8) == 8);
}

int main(void) {
  char path[64];
  say("/dev/stdout", "by /dev/stdout\n");
  say("/dev/fd/1", "by /dev/fd/1\n");
  say("/proc/self/fd/1", "by /proc/self/fd/1\n");
  snprintf(path, sizeof path, "/proc/%d/fd/1", getpid());
  say(path, "by /proc/PID/fd/1\n");
  say("/dev/null", "nowhere\n");
  lseek(1, 0, SEEK_END); /* if it is a file, its own position is still at the start */
  handed_over();
  far_away();
  puts("done");
  return 0;
}
