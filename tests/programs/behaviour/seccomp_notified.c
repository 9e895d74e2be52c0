/* seccomp's user notification: a supervisor receives its child's calls, and answers with values, errors, or by letting
 * the call be made. */
#define _GNU_SOURCE
#include "seccomp_notify.h"

static pid_t parent;

static int child_work(void) {
  CHECK(syscall(SYS_getppid, 1, 2, 3, 4, 5, 6) == 4242);
  FAILS(syscall(SYS_getppid), EXDEV);
  CHECK(syscall(SYS_getppid) == parent); /* made after all */
  CHECK(syscall(SYS_getppid) == 4241);
  return 0;
}

static void errors_of_requests(int listener) {
  struct seccomp_notif got;
  memset(&got, 1, sizeof got);
  FAILS(ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &got), EINVAL); /* the memory must be zero */
  FAILS(ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, NULL), EFAULT);
  FAILS(ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, NULL), EFAULT);
  FAILS(answer(listener, 99999, 0, 0, 0), ENOENT);
  FAILS(answer(listener, 99999, 0, 0, 2), EINVAL);
  FAILS(answer(listener, 99999, 1, 0, SECCOMP_USER_NOTIF_FLAG_CONTINUE), EINVAL);
  FAILS(answer(listener, 99999, 0, -1, SECCOMP_USER_NOTIF_FLAG_CONTINUE), EINVAL);
  FAILS(is_valid(listener, 99999), ENOENT);
}

static void errors_of_filters(void) {
  FAILS(listen_to(SYS_getppid, SECCOMP_FILTER_FLAG_TSYNC), EINVAL);
  FAILS(listen_to(SYS_getppid, 1 << 20), EINVAL);
  struct sock_filter code[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog program = {1, code};
  FAILS(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 1 << 5, &program), EINVAL); /* only with a listener */
  const pid_t child = fork();
  if (child == 0) {
    CHECK(listen_to(SYS_getsid, 0) >= 0);
    FAILS(listen_to(SYS_getsid, 0), EBUSY);
    _exit(0);
  }
  expect_success(child);
  uint32_t action = SECCOMP_RET_USER_NOTIF;
  CHECK(syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0);
}

int main(void) {
  int listener;
  parent = getpid();
  errors_of_filters();
  const pid_t child = supervised(SYS_getppid, 0, &listener);
  if (child == 0) _exit(child_work());
  errors_of_requests(listener);
  struct seccomp_notif got = receive(listener);
  CHECK(got.pid == (unsigned)child && got.flags == 0 && got.id != 0);
  CHECK(got.data.nr == SYS_getppid && got.data.arch == 0xc000003e && got.data.instruction_pointer != 0);
  for (unsigned i = 0; i < 6; i++) CHECK(got.data.args[i] == i + 1);
  CHECK(is_valid(listener, got.id) == 0);
  CHECK(answer(listener, got.id, 4242, 0, 0) == 0);
  CHECK(answer(listener, got.id, 4242, 0, 0) == -1 && (errno == ENOENT || errno == EINPROGRESS));
  got = receive(listener);
  CHECK(answer(listener, got.id, 0, -EXDEV, 0) == 0);
  got = receive(listener);
  CHECK(answer(listener, got.id, 0, 0, SECCOMP_USER_NOTIF_FLAG_CONTINUE) == 0);
  got = receive(listener);
  CHECK(answer(listener, got.id, 4241, 0, 0) == 0);
  expect_success(child);
  puts("notified");
  return 0;
}
