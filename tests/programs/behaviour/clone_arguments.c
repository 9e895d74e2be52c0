/* What clone and clone3 refuse, and the rarer things that they do: chosen ids, cleared handlers, shared tables. */
#define _GNU_SOURCE
#include <linux/sched.h>
#include <sched.h>
#include "check.h"

static const unsigned long kNewTime = 0x80; /* CLONE_NEWTIME */

static long clone3(struct clone_args* args, size_t bytes) { return syscall(SYS_clone3, args, bytes); }
static long raw_clone(unsigned long flags, int* parent_tid, int* child_tid) {
  return syscall(SYS_clone, flags, NULL, parent_tid, child_tid, NULL);
}
static void handler(int number) { (void)number; }

static void errors_of_clone3(void) {
  struct {
    struct clone_args args;
    char more[5000];
  } long_one;
  struct clone_args* args = &long_one.args;
  memset(&long_one, 0, sizeof long_one);
  args->exit_signal = SIGCHLD;
  FAILS(clone3(args, 8), EINVAL);
  FAILS(clone3(args, sizeof long_one), E2BIG);
  FAILS(clone3((void*)8, sizeof *args), EFAULT);
  long_one.more[20] = 1;
  FAILS(clone3(args, sizeof *args + 100), E2BIG);
  args->stack = 4096;
  FAILS(clone3(args, sizeof *args), EINVAL);
  args->stack = 0;
  args->stack_size = 4096;
  FAILS(clone3(args, sizeof *args), EINVAL);
  args->stack_size = 0;
  args->flags = SIGCHLD;
  FAILS(clone3(args, sizeof *args), EINVAL);
  args->flags = 0;
  args->exit_signal = 300;
  FAILS(clone3(args, sizeof *args), EINVAL);
  args->exit_signal = SIGCHLD;
  args->set_tid_size = 1;
  FAILS(clone3(args, sizeof *args), EINVAL);
}

/* Pidfd and parent id in one word fail. So does a time namespace without privileges. */
static void flags_of_clone3(void) {
  int word = -1;
  struct clone_args args = {.exit_signal = SIGCHLD,
                            .flags = CLONE_PIDFD | CLONE_PARENT_SETTID,
                            .pidfd = (uintptr_t)&word,
                            .parent_tid = (uintptr_t)&word};
  FAILS(clone3(&args, sizeof args), EINVAL);
  args.flags = CLONE_PIDFD;
  args.pidfd = 0;
  FAILS(clone3(&args, sizeof args), EFAULT);
  args.flags = 0;
  args.stack = 1UL << 62;
  args.stack_size = 4096;
  FAILS(clone3(&args, sizeof args), EINVAL);
  args.stack = args.stack_size = 0;
  args.flags = kNewTime;
  long child = clone3(&args, sizeof args);
  if (child == 0) _exit(0);
  if (child < 0) {
    CHECK(errno == EPERM);
    return;
  }
  expect_success((pid_t)child);
}

static void errors_of_clone(void) {
  static const unsigned long kRefused[] = {CLONE_THREAD | SIGCHLD,
                                           CLONE_SIGHAND | SIGCHLD,
                                           CLONE_FS | CLONE_NEWNS,
                                           CLONE_FS | CLONE_NEWUSER,
                                           CLONE_PIDFD | CLONE_PARENT_SETTID,
                                           CLONE_SYSVSEM | CLONE_NEWIPC,
                                           CLONE_VM | CLONE_SIGHAND | CLONE_THREAD | CLONE_NEWPID};
  int id;
  for (unsigned i = 0; i < sizeof kRefused / sizeof kRefused[0]; i++) FAILS(raw_clone(kRefused[i], &id, &id), EINVAL);
}

static void cleared_handlers(void) {
  CHECK(signal(SIGUSR1, handler) != SIG_ERR && signal(SIGUSR2, SIG_IGN) != SIG_ERR);
  struct clone_args args = {.exit_signal = SIGCHLD, .flags = CLONE_CLEAR_SIGHAND};
  long child = clone3(&args, sizeof args);
  if (child == 0) {
    struct sigaction one, two;
    CHECK(sigaction(SIGUSR1, NULL, &one) == 0 && sigaction(SIGUSR2, NULL, &two) == 0);
    _exit(one.sa_handler != SIG_DFL || two.sa_handler != SIG_IGN);
  }
  expect_success((pid_t)child);
}

/* Choosing an id needs privileges. */
static void chosen_id(void) {
  pid_t wanted = 30303;
  struct clone_args args = {.exit_signal = SIGCHLD, .set_tid = (uintptr_t)&wanted, .set_tid_size = 1};
  long child = clone3(&args, sizeof args);
  if (child == 0) _exit(getpid() != wanted);
  if (child < 0) {
    CHECK(errno == EPERM || errno == EEXIST);
    return;
  }
  CHECK(child == wanted);
  expect_success(wanted);
}

static void shared_tables(void) {
  int fd = open("/dev/null", O_RDONLY), ids[2] = {-1, -1};
  long child = raw_clone(CLONE_FILES | CLONE_FS | CLONE_CHILD_SETTID | CLONE_PARENT_SETTID | SIGCHLD, &ids[0], &ids[1]);
  if (child == 0) _exit(close(fd) != 0 || chdir("/usr") != 0 || ids[1] != getpid());
  CHECK(ids[0] == child && ids[1] == -1);
  expect_success((pid_t)child);
  char where[64];
  CHECK(fcntl(fd, F_GETFD) == -1 && getcwd(where, sizeof where) != NULL && strcmp(where, "/usr") == 0);
}

int main(void) {
  errors_of_clone3();
  flags_of_clone3();
  errors_of_clone();
  cleared_handlers();
  chosen_id();
  shared_tables();
  puts("cloned");
  return 0;
}
