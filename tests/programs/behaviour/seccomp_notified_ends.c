/* seccomp's user notification when one side goes away: the listener is closed, the waiting process is killed, a signal
 * interrupts its call. */
#define _GNU_SOURCE
#include "seccomp_notify.h"

static volatile int handled;
static void nothing(int number, siginfo_t* info, void* context) { (void)number, (void)info, (void)context, handled++; }

static void listener_is_closed(void) {
  int listener;
  const pid_t child = supervised(SYS_getsid, 0, &listener);
  if (child == 0) {
    FAILS(syscall(SYS_getsid, 0), ENOSYS); /* closed while it waits */
    FAILS(syscall(SYS_getsid, 0), ENOSYS); /* nobody listens any more */
    _exit(0);
  }
  receive(listener);
  CHECK(close(listener) == 0);
  expect_success(child);
}

static void caller_is_killed(void) {
  int listener;
  const pid_t child = supervised(SYS_getsid, 0, &listener);
  if (child == 0) _exit((int)syscall(SYS_getsid, 0));
  const struct seccomp_notif got = receive(listener);
  CHECK(events_of(listener, POLLIN) == 0);
  CHECK(kill(child, SIGKILL) == 0 && WIFSIGNALED(status_of(child)));
  FAILS(is_valid(listener, got.id), ENOENT);
  FAILS(answer(listener, got.id, 0, 0, 0), ENOENT);
  CHECK((events_of(listener, POLLIN) & POLLHUP) != 0);
  struct seccomp_notif none;
  memset(&none, 0, sizeof none);
  FAILS(ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &none), ENOENT); /* no process has the filter */
  CHECK(close(listener) == 0);
}

/* With SA_RESTART, the call is made again, with a new notification. */
static void caller_is_interrupted(int flags) {
  int listener;
  const pid_t child = supervised(SYS_getsid, 0, &listener);
  if (child == 0) {
    on_signal(SIGUSR1, nothing, flags);
    const long result = syscall(SYS_getsid, 0);
    CHECK(handled == 1 && (flags != 0 ? result == 77 : result == -1 && errno == EINTR));
    _exit(0);
  }
  const struct seccomp_notif got = receive(listener);
  CHECK(kill(child, SIGUSR1) == 0);
  if (flags != 0) {
    const struct seccomp_notif again = receive(listener);
    CHECK(again.id != got.id);
    FAILS(answer(listener, got.id, 0, 0, 0), ENOENT);
    CHECK(answer(listener, again.id, 77, 0, 0) == 0);
  }
  expect_success(child);
  CHECK(close(listener) == 0);
}

/* With SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, signals wait until a received call is answered. */
static void caller_is_patient(void) {
  int listener;
  const pid_t child = supervised(SYS_getsid, 1 << 5, &listener);
  if (child == 0) {
    on_signal(SIGUSR1, nothing, 0);
    CHECK(syscall(SYS_getsid, 0) == 78 && handled == 1);
    _exit(0);
  }
  const struct seccomp_notif got = receive(listener);
  CHECK(kill(child, SIGUSR1) == 0);
  usleep(30000);
  CHECK(is_valid(listener, got.id) == 0 && answer(listener, got.id, 78, 0, 0) == 0);
  expect_success(child);
  CHECK(close(listener) == 0);
}

int main(void) {
  listener_is_closed();
  caller_is_killed();
  caller_is_interrupted(0);
  caller_is_interrupted(SA_RESTART);
  caller_is_patient();
  puts("ended");
  return 0;
}
