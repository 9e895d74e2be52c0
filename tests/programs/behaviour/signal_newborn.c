/* A signal that is sent before a new process or thread has run for the first time reaches it, not its creator; a stop
 * signal stops it, and a tracer finds it. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/ptrace.h>
#include "check.h"

enum { kRounds = 10 };

static volatile int handled_by, handled;
static void note(int number, siginfo_t* info, void* context) {
  (void)number, (void)info, (void)context;
  handled_by = (int)syscall(SYS_gettid);
  handled++;
}

static void await_signal(void) {
  while (handled == 0) usleep(1000);
  CHECK(handled == 1 && handled_by == (int)syscall(SYS_gettid));
}

static void* work(void* arg) {
  await_signal();
  return arg;
}

static void by_a_process(void) {
  const pid_t child = fork();
  if (child == 0) {
    await_signal();
    _exit(0);
  }
  CHECK(kill(child, SIGUSR1) == 0);
  expect_success(child);
  CHECK(handled == 0);
}

static void by_a_thread(void) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, work, NULL) == 0 && pthread_kill(thread, SIGUSR1) == 0);
  CHECK(pthread_join(thread, NULL) == 0 && handled == 1);
  handled = 0;
}

static pid_t sleeping_child(void) {
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0)
    for (;;) pause();
  CHECK(setpgid(child, child) == 0); /* not in an orphaned group, which SIGTSTP would not stop */
  return child;
}

static void is_stopped(void) {
  int status;
  const pid_t child = sleeping_child();
  CHECK(kill(child, SIGTSTP) == 0);
  CHECK(waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status) && WSTOPSIG(status) == SIGTSTP);
  CHECK(kill(child, SIGKILL) == 0 && WIFSIGNALED(status_of(child)));
}

static void is_traced(int number) {
  int status;
  const pid_t child = sleeping_child();
  CHECK(ptrace(PTRACE_SEIZE, child, NULL, NULL) == 0 && kill(child, number) == 0);
  CHECK(waitpid(child, &status, 0) == child && WIFSTOPPED(status) && WSTOPSIG(status) == number);
  CHECK(kill(child, SIGKILL) == 0 && WIFSIGNALED(status_of(child)));
}

int main(void) {
  on_signal(SIGUSR1, note, 0);
  for (int i = 0; i < kRounds; i++) by_a_process();
  for (int i = 0; i < kRounds; i++) by_a_thread();
  is_stopped();
  is_traced(SIGTSTP);
  is_traced(SIGTERM);
  puts("newborn signalled");
  return 0;
}
