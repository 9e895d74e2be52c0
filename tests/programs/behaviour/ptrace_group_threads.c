/* A group-stop of a process with several traced threads: each stops on its own, later if it is in another stop when the
 * group-stop begins, or not at all if SIGCONT comes before. */
#define _GNU_SOURCE
#include <pthread.h>
#include "ptrace_check.h"

enum { kEventStop = 128, kThreads = 2 };

static struct shared { volatile int tids[kThreads]; } * shared;

static void* rest(void* arg) {
  shared->tids[(long)arg] = (int)syscall(SYS_gettid);
  for (;;) pause();
  return arg;
}

/* Returns a process whose two threads are traced by `request`. It is in a group of its own, which is not orphaned. */
static pid_t traced(int request) {
  for (int i = 0; i < kThreads; i++) shared->tids[i] = 0;
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child != 0) CHECK(setpgid(child, child) == 0);
  if (child == 0) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, rest, (void*)1) == 0);
    rest(NULL);
  }
  for (int i = 0; i < kThreads; i++) {
    while (shared->tids[i] == 0) usleep(1000);
    CHECK(ptrace(request, shared->tids[i], NULL, NULL) == 0);
    if (request != PTRACE_ATTACH) continue;
    CHECK(stop_of(shared->tids[i]) == SIGSTOP);
    go_on(PTRACE_CONT, shared->tids[i], 0);
  }
  return child;
}

static void send(int index, int number) {
  CHECK(syscall(SYS_tgkill, shared->tids[0], shared->tids[index], number) == 0);
}

static void expect(int index, int code) {
  const pid_t tid = shared->tids[index];
  CHECK(stop_of(tid) == code);
  siginfo_t info;
  if (code >> 8 == kEventStop) CHECK(ptrace(PTRACE_GETSIGINFO, tid, NULL, &info) == 0 && info.si_pid == tid);
}

static void expect_event(int index, int number) { expect(index, number | kEventStop << 8); }

static void expect_nothing(int index) {
  int status;
  usleep(20000);
  CHECK(waitpid(shared->tids[index], &status, WNOHANG | __WALL) == 0);
}

static void request(int number, int index) { CHECK(ptrace(number, shared->tids[index], NULL, NULL) == 0); }

static void end(pid_t child) {
  int status;
  CHECK(kill(child, SIGKILL) == 0);
  for (int left = kThreads; left > 0; left--) {
    const pid_t ended = waitpid(-1, &status, __WALL);
    CHECK(ended > 0 && WIFSIGNALED(status));
  }
}

static void all_stop_and_are_continued(void) {
  const pid_t child = traced(PTRACE_SEIZE);
  send(1, SIGSTOP);
  expect(1, SIGSTOP);
  go_on(PTRACE_CONT, shared->tids[1], SIGSTOP);
  for (int i = 0; i < kThreads; i++) expect_event(i, SIGSTOP);
  for (int i = 0; i < kThreads; i++) request(PTRACE_LISTEN, i);
  send(0, SIGCONT);
  for (int i = 0; i < kThreads; i++) expect_event(i, SIGTRAP);
  for (int i = 0; i < kThreads; i++) go_on(PTRACE_CONT, shared->tids[i], 0);
  expect(0, SIGCONT);
  go_on(PTRACE_CONT, shared->tids[0], SIGCONT);
  expect_nothing(0);
  end(child);
}

static void one_joins_later(int continued) {
  const pid_t child = traced(PTRACE_SEIZE);
  request(PTRACE_INTERRUPT, 1);
  expect_event(1, SIGTRAP);
  send(0, SIGTSTP);
  expect(0, SIGTSTP);
  go_on(PTRACE_CONT, shared->tids[0], SIGTSTP);
  expect_event(0, SIGTSTP);
  expect_nothing(1);
  if (continued) send(0, SIGCONT);
  go_on(PTRACE_CONT, shared->tids[1], 0);
  expect_event(1, continued ? SIGTRAP : SIGTSTP);
  end(child);
}

static void one_listens(void) {
  const pid_t child = traced(PTRACE_SEIZE);
  send(0, SIGSTOP);
  expect(0, SIGSTOP);
  go_on(PTRACE_CONT, shared->tids[0], SIGSTOP);
  for (int i = 0; i < kThreads; i++) expect_event(i, SIGSTOP);
  request(PTRACE_LISTEN, 1);
  go_on(PTRACE_CONT, shared->tids[0], 0);
  send(0, SIGTTOU);
  expect(0, SIGTTOU);
  expect_nothing(1);
  go_on(PTRACE_CONT, shared->tids[0], SIGTTOU);
  for (int i = 0; i < kThreads; i++) expect_event(i, SIGTTOU);
  end(child);
}

/* Without PTRACE_SEIZE, there are no events, and PTRACE_CONT makes each run again. */
static void attached_ones_stop(void) {
  const pid_t child = traced(PTRACE_ATTACH);
  siginfo_t info;
  send(0, SIGTTIN);
  expect(0, SIGTTIN);
  go_on(PTRACE_CONT, shared->tids[0], SIGTTIN);
  for (int i = 0; i < kThreads; i++) {
    expect(i, SIGTTIN);
    FAILS(ptrace(PTRACE_GETSIGINFO, shared->tids[i], NULL, &info), EINVAL);
    go_on(PTRACE_CONT, shared->tids[i], 0);
  }
  for (int i = 0; i < kThreads; i++) expect_nothing(i);
  end(child);
}

int main(void) {
  alarm(60);
  shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(shared != MAP_FAILED);
  all_stop_and_are_continued();
  one_joins_later(0);
  one_joins_later(1);
  one_listens();
  attached_ones_stop();
  puts("threads stopped as a group");
  return 0;
}
