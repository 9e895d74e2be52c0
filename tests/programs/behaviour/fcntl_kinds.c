/* fcntl's commands: duplicates, flags, locks of both kinds, leases, owners, signals, pipe sizes, hints. */
#define _GNU_SOURCE
#include <sys/file.h>
#include "check.h"

#ifndef F_GET_RW_HINT
#define F_GET_RW_HINT 1035
#define F_SET_RW_HINT 1036
#endif

static char name[] = "/tmp/reweave-fcntl-XXXXXX";
static volatile sig_atomic_t signalled;
static volatile int signalled_fd;
static void on_io(int number, siginfo_t* info, void* context) {
  (void)number, (void)context;
  signalled++;
  signalled_fd = info->si_fd;
}

static void locks(int fd) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 10, .l_len = 5};
  int ends[2];
  char byte;
  CHECK(pipe(ends) == 0 && fcntl(fd, F_SETLK, &lock) == 0);
  pid_t child = fork();
  if (child == 0) {
    struct flock seen = lock;
    CHECK(fcntl(fd, F_GETLK, &seen) == 0 && seen.l_type == F_WRLCK && seen.l_pid == getppid() && seen.l_start == 10);
    FAILS(fcntl(fd, F_SETLK, &lock), EAGAIN);
    CHECK(write(ends[1], "w", 1) == 1 && fcntl(fd, F_SETLKW, &lock) == 0);
    _exit(0);
  }
  CHECK(read(ends[0], &byte, 1) == 1);
  usleep(10000);
  lock.l_type = F_UNLCK;
  CHECK(fcntl(fd, F_SETLK, &lock) == 0);
  expect_success(child);
  int other = open(name, O_RDWR);
  struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  CHECK(fcntl(fd, F_OFD_SETLK, &whole) == 0);
  FAILS(fcntl(other, F_OFD_SETLK, &whole), EAGAIN);
  CHECK(fcntl(other, F_OFD_GETLK, &whole) == 0 && whole.l_type == F_WRLCK && whole.l_pid == -1);
  whole.l_type = F_UNLCK, whole.l_pid = 0;
  CHECK(fcntl(fd, F_OFD_SETLK, &whole) == 0 && flock(fd, LOCK_EX) == 0);
  FAILS(flock(other, LOCK_EX | LOCK_NB), EWOULDBLOCK);
  CHECK(flock(fd, LOCK_UN) == 0 && close(other) == 0);
}

static void owners(void) {
  int ends[2];
  struct f_owner_ex owner = {F_OWNER_TID, gettid()}, seen = {0, 0};
  CHECK(pipe2(ends, O_NONBLOCK) == 0);
  CHECK(fcntl(ends[0], F_SETOWN, getpid()) == 0 && fcntl(ends[0], F_GETOWN) == getpid());
  CHECK(fcntl(ends[0], F_SETOWN_EX, &owner) == 0 && fcntl(ends[0], F_GETOWN_EX, &seen) == 0);
  CHECK(seen.type == F_OWNER_TID && seen.pid == owner.pid);
  on_signal(SIGRTMIN, on_io, 0);
  CHECK(fcntl(ends[0], F_SETSIG, SIGRTMIN) == 0 && fcntl(ends[0], F_GETSIG) == SIGRTMIN);
  CHECK(fcntl(ends[0], F_SETFL, O_NONBLOCK | O_ASYNC) == 0 && (fcntl(ends[0], F_GETFL) & O_ASYNC));
  CHECK(write(ends[1], "x", 1) == 1);
  while (signalled == 0) usleep(1000);
  CHECK(signalled_fd == ends[0]);
}

int main(void) {
  int fd = mkstemp(name), ends[2];
  uint64_t hint = 2, seen = 0;
  CHECK(fd >= 0);
  int copy = fcntl(fd, F_DUPFD, 50), closed = fcntl(fd, F_DUPFD_CLOEXEC, 50);
  CHECK(copy >= 50 && closed > copy && fcntl(closed, F_GETFD) == FD_CLOEXEC && fcntl(copy, F_GETFD) == 0);
  CHECK(fcntl(copy, F_SETFD, FD_CLOEXEC) == 0 && fcntl(copy, F_GETFD) == FD_CLOEXEC);
  CHECK(dup2(fd, 60) == 60 && dup3(fd, 61, O_CLOEXEC) == 61 && fcntl(61, F_GETFD) == FD_CLOEXEC);
  FAILS(dup3(fd, fd, 0), EINVAL);
  CHECK((fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDWR && fcntl(fd, F_SETFL, O_APPEND) == 0);
  CHECK(fcntl(fd, F_SET_RW_HINT, &hint) == 0 && fcntl(fd, F_GET_RW_HINT, &seen) == 0 && seen == 2);
  locks(fd);
  owners();
  CHECK(pipe(ends) == 0 && fcntl(ends[0], F_SETPIPE_SZ, 1 << 17) == 1 << 17 && fcntl(ends[0], F_GETPIPE_SZ) == 1 << 17);
  FAILS(fcntl(ends[0], 9999, 0), EINVAL);
  FAILS(fcntl(999, F_GETFD), EBADF);
  for (int own = 1000; own < 1004; own++) FAILS(fcntl(own, F_GETFD), EBADF);
  unlink(name);
  puts("fcntl");
  return 0;
}
