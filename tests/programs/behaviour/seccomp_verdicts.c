/* A program's own filter decides about every call, including those that the runtime answers without the kernel. Each
 * action has the same effect as in the kernel. */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include "check.h"

static void filter(long number, uint32_t action) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, action),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof code / sizeof *code, code};
  CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

static void handler(int number, siginfo_t* info, void* context) { (void)number, (void)info, (void)context; }

static void returns_from_handler(void) {
  on_signal(SIGUSR1, handler, 0);
  raise(SIGUSR1);
}

/* Returns the wait status of a child that calls `number` under a filter with `action`. */
static int verdict(long number, uint32_t action) {
  const pid_t child = fork();
  if (child == 0) {
    struct rlimit no_core = {0, 0};
    CHECK(setrlimit(RLIMIT_CORE, &no_core) == 0);
    filter(number, action);
    if (number == SYS_rt_sigreturn) returns_from_handler();
    const long result = syscall(number, 0, 0, 0, 0, 0, 0);
    syscall(number == SYS_exit_group ? SYS_exit : SYS_exit_group, result == -1 ? errno : 200);
  }
  return status_of(child);
}

/* Calls that the runtime handles in different ways: answers itself, answers from its tables, or refuses. */
static const long kCalls[] = {SYS_sched_yield,
                              SYS_rt_sigreturn,
                              SYS_getppid,
                              SYS_gettid,
                              SYS_getpid,
                              SYS_clock_gettime,
                              SYS_gettimeofday,
                              SYS_time,
                              SYS_futex,
                              SYS_futex_waitv,
                              SYS_set_robust_list,
                              SYS_get_robust_list,
                              SYS_set_tid_address,
                              SYS_rt_sigprocmask,
                              SYS_rt_sigaction,
                              SYS_rt_sigpending,
                              SYS_rt_sigtimedwait,
                              SYS_sigaltstack,
                              SYS_restart_syscall,
                              SYS_mmap,
                              SYS_munmap,
                              SYS_mprotect,
                              SYS_mremap,
                              SYS_madvise,
                              SYS_brk,
                              SYS_rseq,
                              SYS_io_setup,
                              SYS_io_uring_setup,
                              SYS_userfaultfd,
                              SYS_perf_event_open,
                              SYS_bpf,
                              SYS_iopl,
                              SYS_getcpu,
                              SYS_sched_getaffinity,
                              SYS_arch_prctl,
                              SYS_personality,
                              SYS_seccomp,
                              SYS_ptrace,
                              SYS_fork,
                              SYS_vfork,
                              SYS_clone,
                              SYS_clone3,
                              SYS_execve,
                              SYS_execveat,
                              SYS_exit,
                              SYS_exit_group,
                              SYS_kill,
                              SYS_tkill,
                              SYS_tgkill,
                              SYS_wait4,
                              SYS_close,
                              SYS_dup,
                              SYS_readlink,
                              SYS_open,
                              SYS_openat,
                              SYS_process_vm_writev,
                              1000 /* not a system call */};

static void kills(long number) {
  int status = verdict(number, SECCOMP_RET_KILL_PROCESS);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
  status = verdict(number, SECCOMP_RET_KILL_THREAD);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
  status = verdict(number, SECCOMP_RET_TRAP);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
}

static void answers(long number) {
  CHECK(WEXITSTATUS(verdict(number, SECCOMP_RET_ERRNO | 77)) == 77);
  CHECK(WEXITSTATUS(verdict(number, SECCOMP_RET_TRACE)) == ENOSYS);
  CHECK(WEXITSTATUS(verdict(number, SECCOMP_RET_USER_NOTIF)) == ENOSYS);
}

static void* yields(void* arg) {
  filter(SYS_sched_yield, SECCOMP_RET_KILL_THREAD);
  syscall(SYS_sched_yield);
  return arg;
}

/* Only the thread dies; the process continues. */
static void kills_a_thread(void) {
  const pid_t child = fork();
  if (child == 0) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, yields, NULL) == 0 && pthread_join(thread, NULL) == 0);
    exit(0);
  }
  expect_success(child);
}

int main(void) {
  for (size_t i = 0; i < sizeof kCalls / sizeof *kCalls; i++) {
    kills(kCalls[i]);
    if (kCalls[i] == SYS_rt_sigreturn) continue; /* a refused sigreturn continues at an arbitrary place */
    answers(kCalls[i]);
  }
  CHECK(WEXITSTATUS(verdict(SYS_sched_yield, SECCOMP_RET_LOG)) == 200);
  CHECK(WEXITSTATUS(verdict(SYS_getppid, SECCOMP_RET_ALLOW)) == 200);
  kills_a_thread();
  puts("judged");
  return 0;
}
