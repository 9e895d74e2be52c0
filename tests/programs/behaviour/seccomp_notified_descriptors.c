/* A supervisor opens files for its child: SECCOMP_IOCTL_NOTIF_ADDFD with and without a wanted number, with the call's
 * answer, and its errors. */
#define _GNU_SOURCE
#include "seccomp_notify.h"

enum { kWanted = 50 };
#ifndef SECCOMP_ADDFD_FLAG_SEND
#define SECCOMP_ADDFD_FLAG_SEND 2
#endif

static void expect_text(int fd, const char* text) {
  char got[32] = "";
  CHECK(pread(fd, got, sizeof got - 1, 0) == (ssize_t)strlen(text) && strcmp(got, text) == 0);
}

static int child_work(void) {
  const int lowest = dup(0);
  CHECK(close(lowest) == 0);
  const int first = (int)syscall(SYS_getsid, 1);
  CHECK(first == lowest && fcntl(first, F_GETFD) == 0);
  expect_text(first, "one");
  CHECK(syscall(SYS_getsid, 2) == kWanted && fcntl(kWanted, F_GETFD) == FD_CLOEXEC);
  expect_text(kWanted, "two");
  CHECK(syscall(SYS_getsid, 3) == kWanted && fcntl(kWanted, F_GETFD) == 0); /* in place of that */
  expect_text(kWanted, "one");
  CHECK(syscall(SYS_getsid, 4) == first + 1);
  expect_text(first + 1, "two");
  FAILS(syscall(SYS_getsid, 5), EPERM);
  puts("written in another place");
  fflush(stdout);
  CHECK(syscall(SYS_getsid, 6) == first + 2);
  CHECK(dprintf(first + 2, "and by a descriptor that was given\n") > 0);
  return 0;
}

static int give(int listener, unsigned long long id, int fd, int wanted, unsigned flags, unsigned open_flags) {
  struct seccomp_notif_addfd add = {id, flags, (unsigned)fd, (unsigned)wanted, open_flags};
  return ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &add);
}

static int file_with(const char* text) {
  const int fd = memfd_create("text", MFD_CLOEXEC);
  CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
  return fd;
}

int main(void) {
  int listener;
  const pid_t child = supervised(SYS_getsid, 0, &listener);
  if (child == 0) _exit(child_work());
  const int one = file_with("one"), two = file_with("two");
  unsigned long long id = receive(listener).id;
  FAILS(give(listener, id + 1000, one, 0, 0, 0), ENOENT);
  FAILS(give(listener, id, 9999, 0, 0, 0), EBADF);
  FAILS(give(listener, id, one, 0, 4, 0), EINVAL);
  FAILS(give(listener, id, one, 0, 0, O_APPEND), EINVAL);
  FAILS(give(listener, id, one, kWanted, 0, 0), EINVAL); /* a number without the flag */
  const int given = give(listener, id, one, 0, 0, 0);
  CHECK(given >= 3 && answer(listener, id, given, 0, 0) == 0);
  id = receive(listener).id;
  CHECK(give(listener, id, two, kWanted, SECCOMP_ADDFD_FLAG_SETFD, O_CLOEXEC) == kWanted);
  CHECK(is_valid(listener, id) == 0 && answer(listener, id, kWanted, 0, 0) == 0);
  id = receive(listener).id;
  CHECK(give(listener, id, one, kWanted, SECCOMP_ADDFD_FLAG_SETFD | SECCOMP_ADDFD_FLAG_SEND, 0) == kWanted);
  id = receive(listener).id;
  CHECK(give(listener, id, two, 0, SECCOMP_ADDFD_FLAG_SEND, 0) == given + 1);
  id = receive(listener).id;
  CHECK(answer(listener, id, 0, -EPERM, 0) == 0);
  id = receive(listener).id;
  CHECK(give(listener, id, STDOUT_FILENO, 0, SECCOMP_ADDFD_FLAG_SEND, 0) == given + 2);
  expect_success(child);
  puts("descriptors given");
  return 0;
}
