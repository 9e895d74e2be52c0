/* clone with sets of flags that are neither fork nor a thread: shared memory, descriptors, handlers, another parent. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <spawn.h>
#include "check.h"

static char stack[64 << 10] __attribute__((aligned(64)));
static volatile int shared_value;
static int descriptor;

static int writes(void* arg) {
  shared_value = (int)(long)arg;
  return 5;
}

static pid_t start(int (*function)(void*), int flags, long arg) {
  pid_t child = clone(function, stack + sizeof stack, flags, (void*)arg);
  CHECK(child > 0);
  return child;
}

static void shares_memory(void) {
  shared_value = 0;
  int status = status_of(start(writes, CLONE_VM | SIGCHLD, 7));
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 5 && shared_value == 7);
  status = status_of(start(writes, CLONE_VM | CLONE_VFORK | SIGCHLD, 8));
  CHECK(WEXITSTATUS(status) == 5 && shared_value == 8);
  status = status_of(start(writes, SIGCHLD, 9));
  CHECK(WEXITSTATUS(status) == 5 && shared_value == 8);
  status = status_of(start(writes, CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | SIGCHLD, 10));
  CHECK(WEXITSTATUS(status) == 5 && shared_value == 10);
}

static int closes(void* arg) {
  (void)arg;
  return close(descriptor) == 0 ? 0 : 1;
}

static void shares_descriptors(void) {
  descriptor = open("/dev/null", O_RDONLY);
  expect_success(start(closes, CLONE_FILES | SIGCHLD, 0));
  FAILS(fcntl(descriptor, F_GETFD), EBADF);
  descriptor = open("/dev/null", O_RDONLY);
  expect_success(start(closes, SIGCHLD, 0));
  CHECK(fcntl(descriptor, F_GETFD) >= 0 && close(descriptor) == 0);
}

static int changes_folder(void* arg) {
  (void)arg;
  return chdir("/");
}

static void shares_folder(void) {
  char folder[100];
  CHECK(chdir("/tmp") == 0);
  expect_success(start(changes_folder, SIGCHLD, 0));
  CHECK(strcmp(getcwd(folder, sizeof folder), "/tmp") == 0);
  expect_success(start(changes_folder, CLONE_FS | SIGCHLD, 0));
  CHECK(strcmp(getcwd(folder, sizeof folder), "/") == 0);
}

static void brother(void) {
  int status;
  pid_t middle = fork();
  if (middle == 0) {
    pid_t child = (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, NULL, NULL, 0);
    if (child == 0) _exit(33);
    CHECK(waitpid(child, &status, 0) == -1 && errno == ECHILD);
    _exit(34);
  }
  int seen = 0;
  for (int i = 0; i < 2; i++) {
    CHECK(wait(&status) > 0);
    seen += WEXITSTATUS(status);
  }
  CHECK(seen == 67);
}

static void other_exit_signal(void) {
  int status;
  pid_t child = start(writes, 0, 1);
  CHECK(waitpid(child, &status, 0) == -1 && errno == ECHILD);
  CHECK(waitpid(child, &status, __WCLONE) == child && WEXITSTATUS(status) == 5);
}

static void tids(void) {
  static volatile pid_t parent_tid, child_tid;
  pid_t child = (pid_t)syscall(SYS_clone, CLONE_PARENT_SETTID | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD, 0,
                               &parent_tid, &child_tid, 0);
  if (child == 0) _exit(child_tid == getpid() ? 0 : 1);
  CHECK(parent_tid == child && child_tid == 0);
  expect_success(child);
}

static void clone3_with_pidfd(void) {
  int fd = -1;
  struct clone_args args = {
      .flags = CLONE_PIDFD | CLONE_CLEAR_SIGHAND, .pidfd = (uintptr_t)&fd, .exit_signal = SIGCHLD};
  pid_t child = (pid_t)syscall(SYS_clone3, &args, sizeof args);
  if (child == 0) _exit(12);
  CHECK(child > 0 && fd >= 0);
  siginfo_t info;
  CHECK(waitid((idtype_t)3, (id_t)fd, &info, WEXITED) == 0 && info.si_status == 12 && info.si_pid == child);
  FAILS(syscall(SYS_clone3, &args, 8), EINVAL);
}

static void vforks(void) {
  shared_value = 1;
  pid_t child = vfork();
  if (child == 0) {
    shared_value = 2;
    _exit(3);
  }
  CHECK(shared_value == 2 && WEXITSTATUS(status_of(child)) == 3);
  child = vfork();
  if (child == 0) {
    execl("/no/such/program", "x", NULL);
    shared_value = errno;
    _exit(4);
  }
  CHECK(shared_value == ENOENT && WEXITSTATUS(status_of(child)) == 4);
  char* argv[] = {"x", NULL};
  CHECK(posix_spawn(&child, "/no/such/program", NULL, NULL, argv, argv) == ENOENT);
}

enum { kThread = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM };

static int ends_late(void* arg) {
  const struct timespec pause = {0, 20000000};
  syscall(SYS_nanosleep, &pause, NULL);
  shared_value = (int)(long)arg;
  syscall(SYS_exit, 0);
  return 0;
}

/* The creator of a CLONE_VFORK thread continues when that thread has ended. */
static void vfork_thread(void) {
  shared_value = 0;
  start(ends_late, kThread | CLONE_VFORK, 9);
  CHECK(shared_value == 9);
}

static int ends_when_told(void* arg) {
  const struct timespec pause = {0, 1000000};
  while (shared_value == 0) syscall(SYS_nanosleep, &pause, NULL);
  syscall(SYS_exit, 0);
  return arg != NULL;
}

/* Kernels before 6.9 have no pidfds for threads. */
static void pidfd_of_thread(void) {
  int fd = -1;
  shared_value = 0;
  pid_t thread = clone(ends_when_told, stack + sizeof stack, kThread | CLONE_PIDFD, NULL, &fd);
  if (thread == -1) {
    CHECK(errno == EINVAL);
    return;
  }
  struct pollfd end = {fd, POLLIN, 0};
  CHECK(fcntl(fd, F_GETFD) == FD_CLOEXEC && poll(&end, 1, 0) == 0);
  shared_value = 1;
  CHECK(poll(&end, 1, -1) == 1 && close(fd) == 0);
}

static int waits(void* arg) {
  for (;;) pause();
  return arg != NULL;
}

/* If a process that shares our memory is killed, the kernel clears its id and wakes threads that wait for that. */
static void id_of_killed(void) {
  static volatile pid_t id;
  pid_t child = clone(waits, stack + sizeof stack, CLONE_VM | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD, NULL,
                      NULL, NULL, &id);
  CHECK(child > 0);
  while (id == 0) usleep(500);
  pid_t killer = fork();
  if (killer == 0) {
    usleep(5000);
    _exit(kill(child, SIGKILL) != 0);
  }
  while (id != 0) syscall(SYS_futex, &id, FUTEX_WAIT, child, NULL);
  CHECK(WTERMSIG(status_of(child)) == SIGKILL);
  expect_success(killer);
}

static void errors(void) {
  FAILS(syscall(SYS_clone, CLONE_THREAD, 0, NULL, NULL, 0), EINVAL);
  FAILS(syscall(SYS_clone, CLONE_SIGHAND, 0, NULL, NULL, 0), EINVAL);
  FAILS(syscall(SYS_clone, CLONE_FS | CLONE_NEWNS, 0, NULL, NULL, 0), EINVAL);
}

int main(void) {
  shares_memory();
  shares_descriptors();
  shares_folder();
  brother();
  other_exit_signal();
  tids();
  clone3_with_pidfd();
  vforks();
  vfork_thread();
  pidfd_of_thread();
  id_of_killed();
  errors();
  puts("clones");
  return 0;
}
