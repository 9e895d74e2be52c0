/* Helpers for programs that answer each other's system calls by seccomp's user notification. */
#pragma once
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include "check.h"
#include "pass_descriptor.h"

/* Installs a filter that leaves system call `number` to a supervisor. Returns the listener, or -1. */
static inline int listen_to(int number, unsigned flags) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof code / sizeof *code, code};
  CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER | flags, &program);
}

static inline struct seccomp_notif receive(int listener) {
  struct seccomp_notif got;
  memset(&got, 0, sizeof got);
  CHECK(ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &got) == 0);
  return got;
}

static inline int answer(int listener, unsigned long long id, long long value, int error, unsigned flags) {
  struct seccomp_notif_resp response = {id, value, error, flags};
  return ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

static inline int is_valid(int listener, unsigned long long id) {
  return ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id);
}

/* Starts a child whose filter leaves `number` to the caller. In the caller, returns the child and stores the listener,
 * which came through a socket; in the child, returns 0. */
static inline pid_t supervised(int number, unsigned flags, int* listener) {
  int ends[2];
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    const int own = listen_to(number, flags);
    CHECK(own >= 0 && fcntl(own, F_GETFD) == FD_CLOEXEC);
    send_descriptor(ends[1], own);
    CHECK(close(own) == 0 && close(ends[0]) == 0 && close(ends[1]) == 0);
    return 0;
  }
  CHECK(close(ends[1]) == 0);
  *listener = receive_descriptor(ends[0]);
  CHECK(close(ends[0]) == 0);
  return child;
}

/* What poll tells at once. */
static inline int events_of(int listener, int events) {
  struct pollfd polled = {listener, (short)events, 0};
  CHECK(poll(&polled, 1, 0) >= 0);
  return polled.revents;
}
