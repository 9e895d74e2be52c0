/* Deadly signals to the process itself that the kernel refuses to send: it survives. */
#define _GNU_SOURCE
#include "check.h"

static long send_by_pidfd(int fd, int number, siginfo_t* info, unsigned flags) {
  return syscall(SYS_pidfd_send_signal, fd, number, info, flags);
}

int main(void) {
  const pid_t pid = getpid();
  FAILS(syscall(SYS_tgkill, pid, 0, SIGTERM), EINVAL);
  FAILS(syscall(SYS_tgkill, pid, -1, SIGTERM), EINVAL);
  FAILS(syscall(SYS_tgkill, pid, 0, SIGSTOP), EINVAL);
  FAILS(syscall(SYS_tkill, 0, SIGTERM), EINVAL);
  siginfo_t info;
  memset(&info, 0, sizeof info);
  info.si_signo = SIGUSR1;
  info.si_code = SI_QUEUE;
  FAILS(syscall(SYS_rt_tgsigqueueinfo, pid, 0, SIGUSR1, &info), EINVAL);
  FAILS(syscall(SYS_rt_sigqueueinfo, pid, SIGUSR1, 8), EFAULT);
  int fd = (int)syscall(SYS_pidfd_open, pid, 0);
  CHECK(fd >= 0);
  FAILS(send_by_pidfd(fd, SIGUSR2, &info, 0), EINVAL);
  FAILS(send_by_pidfd(fd, SIGUSR2, NULL, 99), EINVAL);
  signal(SIGUSR1, SIG_IGN);
  CHECK(send_by_pidfd(fd, SIGUSR1, &info, 0) == 0);
  pid_t child = fork();
  if (child == 0) {
    send_by_pidfd((int)syscall(SYS_pidfd_open, getpid(), 0), SIGUSR2, NULL, 0);
    _exit(1);
  }
  int status = status_of(child);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR2);
  puts("refused");
  return 0;
}
