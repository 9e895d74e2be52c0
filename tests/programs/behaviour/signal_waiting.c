/* Taking signals without a handler: sigwait, sigtimedwait, sigpending, signalfd; sigsuspend and ppoll with a mask. */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <sys/signalfd.h>
#include <time.h>
#include "check.h"

static volatile sig_atomic_t handled;
static void count(int number, siginfo_t* info, void* context) {
  (void)number, (void)info, (void)context;
  handled++;
}

static void* waits(void* arg) {
  siginfo_t info;
  CHECK(sigwaitinfo(arg, &info) == SIGUSR1 && info.si_code == SI_USER);
  return NULL;
}

int main(void) {
  sigset_t set, old, now, most;
  siginfo_t info;
  struct timespec none = {0, 0}, some = {0, 20000000};
  sigemptyset(&set), sigaddset(&set, SIGUSR1), sigaddset(&set, SIGCHLD);
  on_signal(SIGUSR1, count, 0);
  CHECK(sigprocmask(SIG_BLOCK, &set, &old) == 0);

  FAILS(sigtimedwait(&set, &info, &none), EAGAIN);
  FAILS(sigtimedwait(&set, &info, &some), EAGAIN);
  CHECK(raise(SIGUSR1) == 0 && sigpending(&now) == 0 && sigismember(&now, SIGUSR1) && !sigismember(&now, SIGCHLD));
  CHECK(sigtimedwait(&set, &info, &none) == SIGUSR1 && info.si_pid == getpid() && handled == 0);

  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, waits, &set) == 0 && pthread_kill(thread, SIGUSR1) == 0);
  CHECK(pthread_join(thread, NULL) == 0);

  int fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
  struct signalfd_siginfo read_info;
  CHECK(fd >= 0);
  FAILS(read(fd, &read_info, sizeof read_info), EAGAIN);
  pid_t child = fork();
  if (child == 0) _exit(42);
  struct pollfd wanted = {fd, POLLIN, 0};
  CHECK(poll(&wanted, 1, -1) == 1 && read(fd, &read_info, sizeof read_info) == sizeof read_info);
  CHECK(read_info.ssi_signo == SIGCHLD && read_info.ssi_pid == (uint32_t)child && read_info.ssi_status == 42);
  CHECK(read_info.ssi_code == CLD_EXITED && WEXITSTATUS(status_of(child)) == 42);

  raise(SIGUSR1);
  FAILS(ppoll(NULL, 0, NULL, &old), EINTR);
  CHECK(handled == 1 && sigprocmask(SIG_BLOCK, NULL, &now) == 0 && sigismember(&now, SIGUSR1));
  raise(SIGUSR1);
  sigfillset(&most), sigdelset(&most, SIGUSR1);
  FAILS(sigsuspend(&most), EINTR);
  CHECK(handled == 2 && sigprocmask(SIG_BLOCK, NULL, &now) == 0 && sigismember(&now, SIGUSR1) &&
        !sigismember(&now, SIGHUP));
  sigset_t user;
  sigemptyset(&user), sigaddset(&user, SIGUSR1);
  CHECK(ppoll(NULL, 0, &none, &set) == 0 && handled == 2);
  raise(SIGUSR1);
  CHECK(sigprocmask(SIG_UNBLOCK, &user, NULL) == 0 && handled == 3);

  /* Signals that faults cause can be blocked and waited for like others. */
  sigemptyset(&set), sigaddset(&set, SIGSEGV), sigaddset(&set, SIGRTMAX - 1), sigaddset(&set, SIGTRAP);
  on_signal(SIGSEGV, count, 0);
  on_signal(SIGTRAP, count, 0);
  CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
  raise(SIGTRAP);
  CHECK(handled == 3 && sigpending(&now) == 0 && sigismember(&now, SIGTRAP));
  CHECK(sigprocmask(SIG_UNBLOCK, &set, NULL) == 0 && handled == 4);
  raise(SIGSEGV);
  CHECK(handled == 5);
  puts("waited for");
  return 0;
}
