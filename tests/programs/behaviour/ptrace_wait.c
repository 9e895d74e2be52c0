/* Waiting for tracees: with WNOWAIT, by group, without blocking, beside children that are not traced, and in another
 * thread. Each stop sends SIGCHLD. */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include "ptrace_check.h"

static volatile int children_signals;
static volatile int last_code, last_status, last_pid;
static void note_child(int number, siginfo_t* info, void* context) {
  (void)number, (void)context;
  children_signals++;
  last_code = info->si_code;
  last_status = info->si_status;
  last_pid = info->si_pid;
}

static volatile pid_t wanted;
static volatile int no_thread_result;
static void* wait_elsewhere(void* arg) {
  int status;
  no_thread_result = waitpid(wanted, &status, __WNOTHREAD | WNOHANG) == -1 ? errno : 0;
  CHECK(waitpid(wanted, &status, 0) == wanted && WIFSTOPPED(status) && WSTOPSIG(status) == SIGUSR1);
  return arg;
}

static void stop_twice(void) {
  raise(SIGUSR1);
  raise(SIGUSR2);
  _exit(3);
}

int main(void) {
  siginfo_t info;
  int status;
  pid_t plain = fork();
  if (plain == 0) {
    pause();
    _exit(1);
  }
  pid_t child = fork_traced();
  if (child == 0) stop_twice();
  CHECK(waitpid(child, &status, WNOHANG) == 0); /* its stop was reported already */
  CHECK(setpgid(child, child) == 0);
  go_on(PTRACE_CONT, child, 0);
  memset(&info, 0, sizeof info);
  CHECK(waitid(P_PID, child, &info, WEXITED | WNOWAIT) == 0);
  FAILS(waitid(P_PID, child, NULL, 0), EINVAL);
  FAILS(waitpid(child, &status, 1 << 20), EINVAL);
  CHECK(info.si_pid == child && info.si_code == CLD_TRAPPED && info.si_status == SIGUSR1 && info.si_signo == SIGCHLD);
  CHECK(waitid(P_PGID, child, &info, WSTOPPED | WNOWAIT) == 0 && info.si_pid == child);
  CHECK(waitpid(-1, &status, WNOHANG) == child && WSTOPSIG(status) == SIGUSR1);
  CHECK(waitpid(-1, &status, WNOHANG) == 0);
  go_on(PTRACE_CONT, child, 0);
  CHECK(waitpid(-child, &status, 0) == child && WIFSTOPPED(status) && WSTOPSIG(status) == SIGUSR2);
  go_on(PTRACE_CONT, child, 0);
  CHECK(waitid(P_ALL, 0, &info, WEXITED) == 0);
  CHECK(info.si_pid == child && info.si_code == CLD_EXITED && info.si_status == 3);
  kill(plain, SIGTERM);
  CHECK(waitpid(-1, &status, 0) == plain && WIFSIGNALED(status));
  FAILS(waitpid(-1, &status, 0), ECHILD);
  FAILS(waitid(P_ALL, 0, &info, 0), EINVAL);

  /* Another thread of the tracer waits. */
  wanted = fork_traced();
  if (wanted == 0) stop_twice();
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, wait_elsewhere, NULL) == 0);
  go_on(PTRACE_CONT, wanted, 0);
  CHECK(pthread_join(thread, NULL) == 0 && no_thread_result == ECHILD);
  kill(wanted, SIGKILL);
  status = status_of(wanted);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);

  /* A signal for each stop. */
  on_signal(SIGCHLD, note_child, SA_RESTART);
  child = fork();
  if (child == 0) {
    CHECK(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0);
    stop_twice();
  }
  CHECK(stop_of(child) == SIGUSR1);
  while (children_signals < 1) poll(NULL, 0, 1);
  CHECK(last_code == CLD_TRAPPED && last_status == SIGUSR1 && last_pid == child);
  sigset_t blocked, before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGCHLD);
  CHECK(sigprocmask(SIG_BLOCK, &blocked, &before) == 0);
  go_on(PTRACE_CONT, child, 0);
  CHECK(sigwaitinfo(&blocked, &info) == SIGCHLD && info.si_code == CLD_TRAPPED && info.si_status == SIGUSR2);
  CHECK(stop_of(child) == SIGUSR2);
  go_on(PTRACE_CONT, child, 0);
  sigdelset(&before, SIGCHLD);
  while (children_signals < 2) sigsuspend(&before);
  CHECK(last_code == CLD_EXITED && last_status == 3);
  status = status_of(child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
  puts("waited");
  return 0;
}
