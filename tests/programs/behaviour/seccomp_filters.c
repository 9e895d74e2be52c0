/* The program's own seccomp filters: errors, traps, deaths, inheritance, several at once, all threads, strict mode. */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <ucontext.h>
#include "check.h"

static int add_filter(int number, uint32_t action, unsigned flags) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, action),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof code / sizeof *code, code};
  return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

static volatile siginfo_t last;
static void answer(int number, siginfo_t* info, void* context) {
  (void)number;
  last = *info;
  ((ucontext_t*)context)->uc_mcontext.gregs[REG_RAX] = 4242;
}

static void errors_and_traps(void) {
  CHECK(add_filter(SYS_getppid, SECCOMP_RET_ERRNO | EXDEV, 0) == 0);
  FAILS(syscall(SYS_getppid), EXDEV);
  on_signal(SIGSYS, answer, 0);
  CHECK(add_filter(SYS_getpgrp, SECCOMP_RET_TRAP | 7, 0) == 0);
  CHECK(syscall(SYS_getpgrp) == 4242 && last.si_signo == SIGSYS && last.si_code == 1 && last.si_errno == 7);
  CHECK(last.si_syscall == SYS_getpgrp && last.si_arch == 0xc000003e);
  CHECK(add_filter(SYS_getppid, SECCOMP_RET_ERRNO | EBUSY, 0) == 0);
  FAILS(syscall(SYS_getppid), EBUSY);
  CHECK(add_filter(SYS_getppid, SECCOMP_RET_TRACE, 0) == 0);
  FAILS(syscall(SYS_getppid), EBUSY);
  CHECK(prctl(PR_GET_SECCOMP) == 2);
  pid_t child = fork();
  if (child == 0) {
    FAILS(syscall(SYS_getppid), EBUSY);
    execl("/bin/sh", "sh", "-c", "exit 9", NULL);
  }
  CHECK(WEXITSTATUS(status_of(child)) == 9);
}

static void by_argument(void) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_dup, 0, 4),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
      BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xff),
      BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 10, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EMFILE),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof code / sizeof *code, code};
  CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
  int fd = dup(1);
  CHECK(fd >= 0 && close(fd) == 0);
  FAILS(dup(99), EMFILE);
  code[0].code = 0xffff;
  FAILS(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), EINVAL);
  program.len = 0;
  FAILS(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), EINVAL);
  uint32_t action = SECCOMP_RET_TRAP;
  CHECK(syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0);
}

static int death(uint32_t action) {
  pid_t child = fork();
  if (child == 0) {
    CHECK(add_filter(SYS_getsid, action, 0) == 0);
    syscall(SYS_getsid, 0);
    _exit(1);
  }
  return status_of(child);
}

static int ready[2], go[2];
static void* sees_it(void* arg) {
  char byte;
  CHECK(write(ready[1], "r", 1) == 1 && read(go[0], &byte, 1) == 1);
  FAILS(syscall(SYS_getuid), EPERM);
  return arg;
}

static void all_threads(void) {
  pthread_t thread;
  char byte;
  CHECK(pipe(ready) == 0 && pipe(go) == 0 && pthread_create(&thread, NULL, sees_it, NULL) == 0);
  CHECK(read(ready[0], &byte, 1) == 1 &&
        add_filter(SYS_getuid, SECCOMP_RET_ERRNO | EPERM, SECCOMP_FILTER_FLAG_TSYNC) == 0);
  CHECK(write(go[1], "g", 1) == 1 && pthread_join(thread, NULL) == 0);
}

/* If a thread breaks strict mode, only that thread ends. */
static void* breaks_strict_mode(void* arg) {
  CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0);
  syscall(SYS_getpid);
  return arg;
}

static void one_thread_strict(void) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, breaks_strict_mode, NULL) == 0 && pthread_join(thread, NULL) == 0);
}

/* Many processes with a large filter, as in sandboxes. */
static void many_processes(void) {
  enum { kLength = 4000, kProcesses = 60 };
  static struct sock_filter code[kLength];
  for (int i = 0; i < kLength; i++) code[i] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  struct sock_fprog program = {kLength, code};
  for (int i = 0; i < kProcesses; i++) {
    pid_t child = fork();
    if (child == 0) _exit(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 ? 0 : errno);
    expect_success(child);
  }
}

int main(void) {
  CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  pid_t child = fork();
  if (child == 0) {
    errors_and_traps();
    _exit(0);
  }
  expect_success(child);
  one_thread_strict();
  many_processes();
  by_argument();
  int status = death(SECCOMP_RET_KILL_PROCESS);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
  status = death(SECCOMP_RET_KILL_THREAD);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
  status = death(SECCOMP_RET_TRAP);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
  all_threads();
  child = fork();
  if (child == 0) {
    puts("strict");
    fflush(stdout);
    syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, NULL);
    syscall(SYS_write, 1, "written\n", 8);
    syscall(SYS_exit, 5);
  }
  status = status_of(child);
  CHECK(WIFSIGNALED(status) ? WTERMSIG(status) == SIGSYS || WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == 5);
  printf("filtered %d\n", status);
  return 0;
}
