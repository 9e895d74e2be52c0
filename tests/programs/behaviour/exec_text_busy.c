/* A file open for writing cannot be executed, and one being executed cannot be written. */
#define _GNU_SOURCE
#include "check.h"

static char copy[64];

static void copy_self(void) {
  char bytes[65536];
  int from = open("/proc/self/exe", O_RDONLY), to = open(copy, O_WRONLY | O_CREAT | O_TRUNC, 0755);
  CHECK(from >= 0 && to >= 0);
  for (ssize_t n; (n = read(from, bytes, sizeof bytes)) > 0;) CHECK(write(to, bytes, (size_t)n) == n);
  close(from);
  close(to);
}

int main(int argc, char** argv) {
  if (argc > 1) {
    if (argv[1][0] == 'r') {
      FAILS(open(argv[0], O_RDWR), ETXTBSY);
      FAILS(open("/proc/self/exe", O_WRONLY), ETXTBSY);
      return 0;
    }
    close(3);
    char byte;
    return read(0, &byte, 1) == 0 ? 7 : 8;
  }
  snprintf(copy, sizeof copy, "/tmp/reweave-busy-%d", getpid());
  copy_self();
  char* const once[] = {copy, "r", NULL};
  char* const waits[] = {copy, "w", NULL};
  char* const none[] = {NULL};
  int fd = open(copy, O_WRONLY);
  FAILS(execve(copy, once, none), ETXTBSY);
  int other = open(copy, O_RDWR);
  close(fd);
  FAILS(execve(copy, once, none), ETXTBSY);
  FAILS(syscall(SYS_execveat, AT_FDCWD, copy, once, none, 0), ETXTBSY);
  close(other);
  pid_t child = fork();
  if (child == 0) {
    execve(copy, once, none);
    _exit(9);
  }
  expect_success(child);
  int ends[2], ready[2];
  CHECK(pipe(ends) == 0 && pipe2(ready, O_CLOEXEC) == 0);
  child = fork();
  if (child == 0) {
    dup2(ends[0], 0);
    close(ends[0]);
    close(ends[1]);
    execve(copy, waits, none);
    _exit(9);
  }
  close(ends[0]);
  close(ready[1]);
  char byte;
  CHECK(read(ready[0], &byte, 1) == 0);
  FAILS(open(copy, O_WRONLY), ETXTBSY);
  FAILS(open(copy, O_RDWR), ETXTBSY);
  FAILS(openat(AT_FDCWD, copy, O_WRONLY | O_TRUNC), ETXTBSY);
  FAILS(truncate(copy, 0), ETXTBSY);
  FAILS(creat(copy, 0755), ETXTBSY);
  fd = open(copy, O_RDONLY);
  CHECK(fd >= 0);
  char own[64];
  snprintf(own, sizeof own, "/proc/self/fd/%d", fd);
  FAILS(open(own, O_WRONLY), ETXTBSY);
  close(ends[1]);
  CHECK(status_of(child) == 7 << 8);
  fd = open(copy, O_WRONLY | O_TRUNC);
  CHECK(fd >= 0 && write(fd, "#!/bin/sh\nexit 3\n", 17) == 17);
  FAILS(execve(copy, once, none), ETXTBSY);
  close(fd);
  child = fork();
  if (child == 0) {
    execve(copy, once, none);
    _exit(9);
  }
  CHECK(status_of(child) == 3 << 8);
  CHECK(unlink(copy) == 0);
  puts("busy");
  return 0;
}
