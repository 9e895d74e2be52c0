/* Signals to process groups: handled, fatal, to the sender's own group; pidfd and queued ones between processes. */
#define _GNU_SOURCE
#include <sys/prctl.h>
#include "check.h"

static volatile sig_atomic_t got;
static volatile int value;
static void count(int number, siginfo_t* info, void* context) {
  (void)number, (void)context;
  got++;
  value = info->si_value.sival_int;
}

static pid_t sleeper(int* ready, pid_t group) {
  pid_t child = fork();
  if (child == 0) {
    setpgid(0, group);
    CHECK(write(ready[1], "r", 1) == 1);
    for (;;) pause();
  }
  setpgid(child, group == 0 ? child : group);
  char byte;
  CHECK(read(ready[0], &byte, 1) == 1);
  return child;
}

static void kills_a_group(void) {
  int ready[2];
  CHECK(pipe(ready) == 0);
  pid_t first = sleeper(ready, 0), second = sleeper(ready, first);
  CHECK(getpgid(second) == first && kill(-first, 0) == 0 && kill(-first, SIGTERM) == 0);
  int status = status_of(first);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
  status = status_of(second);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
  FAILS(kill(-first, 0), ESRCH);
}

static void kills_its_own_group(void) {
  int ready[2];
  CHECK(pipe(ready) == 0);
  pid_t leader = fork();
  if (leader == 0) {
    setpgid(0, 0);
    sleeper(ready, getpid());
    kill(0, SIGUSR2);
    _exit(1);
  }
  int status = status_of(leader);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR2);
}

static void handled_by_all(void) {
  pid_t leader = fork();
  if (leader == 0) {
    int ready[2];
    setpgid(0, 0);
    on_signal(SIGUSR1, count, 0);
    CHECK(pipe(ready) == 0);
    pid_t child = fork();
    if (child == 0) {
      CHECK(write(ready[1], "r", 1) == 1);
      while (got == 0) usleep(1000);
      _exit(0);
    }
    char byte;
    CHECK(read(ready[0], &byte, 1) == 1 && kill(0, SIGUSR1) == 0 && got == 1);
    expect_success(child);
    _exit(0);
  }
  expect_success(leader);
}

static void queued_to_another_process(void) {
  int ready[2];
  sigset_t set, old;
  CHECK(pipe(ready) == 0);
  pid_t child = fork();
  if (child == 0) {
    on_signal(SIGRTMIN, count, 0);
    sigemptyset(&set), sigaddset(&set, SIGRTMIN);
    CHECK(sigprocmask(SIG_BLOCK, &set, &old) == 0 && write(ready[1], "r", 1) == 1);
    FAILS(sigsuspend(&old), EINTR);
    CHECK(got == 1 && value == 4711);
    _exit(0);
  }
  char byte;
  CHECK(read(ready[0], &byte, 1) == 1 && sigqueue(child, SIGRTMIN, (union sigval){.sival_int = 4711}) == 0);
  expect_success(child);
}

static void by_pidfd(void) {
  int ready[2];
  CHECK(pipe(ready) == 0);
  pid_t child = sleeper(ready, 0);
  int fd = (int)syscall(SYS_pidfd_open, child, 0);
  CHECK(fd >= 0 && syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0) == 0);
  CHECK(syscall(SYS_pidfd_send_signal, fd, SIGINT, NULL, 0) == 0);
  siginfo_t info;
  CHECK(waitid((idtype_t)3 /* P_PIDFD */, (id_t)fd, &info, WEXITED) == 0);
  CHECK(info.si_code == CLD_KILLED && info.si_status == SIGINT && info.si_pid == child);
  FAILS(syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0), ESRCH);
  close(fd);
}

static void of_a_dead_parent(void) {
  pid_t middle = fork();
  if (middle == 0) {
    int ready[2];
    CHECK(pipe(ready) == 0);
    if (fork() == 0) {
      on_signal(SIGUSR1, count, 0);
      CHECK(prctl(PR_SET_PDEATHSIG, SIGUSR1) == 0 && write(ready[1], "r", 1) == 1);
      while (got == 0) pause();
      CHECK(write(1, "orphaned\n", 9) == 9);
      _exit(0);
    }
    char byte;
    CHECK(read(ready[0], &byte, 1) == 1);
    _exit(0);
  }
  expect_success(middle);
}

int main(void) {
  kills_a_group();
  kills_its_own_group();
  handled_by_all();
  queued_to_another_process();
  by_pidfd();
  of_a_dead_parent();
  usleep(100000);
  puts("groups and queues");
  return 0;
}
