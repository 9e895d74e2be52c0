/* A crash handler as in crash reporters: it reports, restores the default action and resends the signal to itself with
 * the same siginfo, while it is blocked. The process dies of it when the handler returns. Also: signals with the codes
 * of faults that did not happen, which a thread can send only to itself. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const int kSignals[] = {SIGTRAP, SIGSEGV, SIGILL, SIGBUS, SIGFPE, SIGSYS, SIGABRT};

enum { kKnownBytes = 48 }; /* of a siginfo_t; the kernel ignores the bytes after them */

static long send_again(int number, siginfo_t* info) {
  return syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), number, info);
}

static void report(int number, siginfo_t* info, void* context) {
  (void)context;
  printf("signal %d code %d\n", number, info->si_code);
  fflush(stdout);
  signal(number, SIG_DFL);
  send_again(number, info);
}

static void show(int number, siginfo_t* info, void* context) {
  (void)context;
  printf("signal %d code %d address %#lx\n", number, info->si_code, (unsigned long)(uintptr_t)info->si_addr);
}

static void cause(int number) {
  if (number == SIGTRAP) __asm__ volatile("int3");
  if (number == SIGSEGV) *(volatile int*)16 = 1;
  if (number == SIGILL) __asm__ volatile("ud2");
  raise(number);
}

int main(void) {
  for (size_t i = 0; i < sizeof kSignals / sizeof *kSignals; i++) {
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
      struct sigaction action = {.sa_sigaction = report, .sa_flags = SA_SIGINFO};
      sigaction(kSignals[i], &action, NULL);
      cause(kSignals[i]);
      printf("lived on\n");
      return 0;
    }
    waitpid(child, &status, 0);
    printf("signal %d: %s %d\n", kSignals[i], WIFSIGNALED(status) ? "died of" : "status", WTERMSIG(status));
  }
  for (size_t i = 0; i < sizeof kSignals / sizeof *kSignals; i++) {
    struct sigaction action = {.sa_sigaction = show, .sa_flags = SA_SIGINFO};
    siginfo_t info = {.si_signo = kSignals[i], .si_code = kSignals[i] == SIGSYS ? 1 : 2};
    info.si_addr = (void*)0x1234;
    memset((char*)&info + kKnownBytes, 0x11, sizeof info - kKnownBytes);
    sigaction(kSignals[i], &action, NULL);
    printf("sent: %ld\n", send_again(kSignals[i], &info));
    sigset_t set, none;
    sigemptyset(&none);
    sigemptyset(&set);
    sigaddset(&set, kSignals[i]);
    sigprocmask(SIG_BLOCK, &set, NULL);
    send_again(kSignals[i], &info);
    memset(&info, 0, sizeof info);
    int taken = sigtimedwait(&set, &info, &(struct timespec){0, 0});
    printf("taken: %d code %d address %#lx\n", taken, info.si_code, (unsigned long)(uintptr_t)info.si_addr);
    sigprocmask(SIG_SETMASK, &none, NULL);
    pid_t child = fork();
    if (child == 0) {
      siginfo_t forged = {.si_signo = kSignals[i], .si_code = 2};
      long sent = syscall(SYS_rt_sigqueueinfo, getppid(), kSignals[i], &forged);
      _exit(sent < 0 ? errno : 0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    printf("to another: %s\n", strerror(WEXITSTATUS(status)));
  }
  return 0;
}
