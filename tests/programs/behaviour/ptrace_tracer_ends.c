/* A tracer, or its thread, ends: its tracees continue, or die with it (PTRACE_O_EXITKILL). If the tracer is not the
 * parent, both learn of the end of the tracee. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/prctl.h>
#include "ptrace_check.h"

static volatile int* words;
static pid_t tracee;

static pid_t start_waiter(void) {
  words[0] = 0;
  pid_t child = fork();
  if (child == 0) {
    words[0] = 1;
    while (words[1] == 0) usleep(1000);
    _exit(4);
  }
  while (words[0] == 0) usleep(1000);
  return child;
}

static void* trace_and_end(void* arg) {
  const long options = (long)arg;
  if (options != 0) {
    CHECK(ptrace(PTRACE_SEIZE, tracee, NULL, options) == 0);
    return NULL;
  }
  CHECK(ptrace(PTRACE_ATTACH, tracee, NULL, NULL) == 0);
  CHECK(stop_of(tracee) == SIGSTOP);
  return NULL;
}

/* The tracing thread ends, but its process continues. */
static int status_after_thread(long options) {
  pthread_t thread;
  words[1] = 0;
  tracee = start_waiter();
  CHECK(pthread_create(&thread, NULL, trace_and_end, (void*)options) == 0 && pthread_join(thread, NULL) == 0);
  words[1] = options == 0;
  return status_of(tracee);
}

/* The tracer dies with its parent while its tracee is stopped. */
static int status_after_death(long options) {
  words[1] = words[2] = 0;
  tracee = start_waiter();
  pid_t parent = fork();
  if (parent == 0) {
    if (fork() == 0) {
      CHECK(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0);
      trace_and_end(NULL);
      if (options != 0) CHECK(ptrace(PTRACE_SETOPTIONS, tracee, NULL, options) == 0);
      words[2] = 1;
      for (;;) pause();
    }
    while (words[2] == 0) usleep(1000);
    _exit(0);
  }
  expect_success(parent);
  words[1] = options == 0;
  return status_of(tracee);
}

/* A tracee dies with its parent while its tracer also waits for its own children. */
static void death_of_grandchild(void) {
  words[2] = words[3] = 0;
  pid_t other = fork();
  if (other == 0)
    for (;;) pause();
  pid_t parent = fork();
  if (parent == 0) {
    pid_t child = fork();
    if (child == 0) {
      CHECK(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0);
      words[2] = getpid();
      for (;;) pause();
    }
    while (words[3] == 0) usleep(1000);
    usleep(20000);
    _exit(0);
  }
  while (words[2] == 0) usleep(1000);
  CHECK(ptrace(PTRACE_SEIZE, words[2], NULL, NULL) == 0);
  words[3] = 1;
  int status, ends = 0;
  for (pid_t who; ends < 2; ends++) {
    CHECK((who = waitpid(-1, &status, __WALL)) > 0);
    CHECK(who == parent ? status == 0 : who == words[2] && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  }
  kill(other, SIGKILL);
  CHECK(WTERMSIG(status_of(other)) == SIGKILL);
}

int main(void) {
  words = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(words != MAP_FAILED);

  pid_t child = start_waiter();
  pid_t tracer = fork();
  if (tracer == 0) {
    CHECK(ptrace(PTRACE_ATTACH, child, NULL, NULL) == 0);
    CHECK(stop_of(child) == SIGSTOP);
    _exit(0); /* the stopped tracee continues */
  }
  expect_success(tracer);
  words[1] = 1;
  int status = status_of(child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 4);

  words[1] = 0;
  child = start_waiter();
  tracer = fork();
  if (tracer == 0) {
    CHECK(ptrace(PTRACE_SEIZE, child, NULL, PTRACE_O_EXITKILL) == 0);
    _exit(0);
  }
  expect_success(tracer);
  status = status_of(child);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);

  child = start_waiter();
  tracer = fork();
  if (tracer == 0) {
    CHECK(ptrace(PTRACE_ATTACH, child, NULL, NULL) == 0);
    CHECK(stop_of(child) == SIGSTOP);
    go_on(PTRACE_CONT, child, 0);
    words[1] = 1;
    CHECK(waitpid(child, &status, __WALL) == child && WIFEXITED(status) && WEXITSTATUS(status) == 4);
    FAILS(waitpid(child, &status, __WALL), ECHILD);
    _exit(0);
  }
  expect_success(tracer);
  status = status_of(child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 4);

  /* A tracee is killed while it is stopped. */
  words[1] = 0;
  child = start_waiter();
  CHECK(ptrace(PTRACE_ATTACH, child, NULL, NULL) == 0);
  CHECK(stop_of(child) == SIGSTOP);
  CHECK(ptrace(PTRACE_KILL, child, NULL, NULL) == 0);
  status = status_of(child);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);

  status = status_after_thread(PTRACE_O_EXITKILL);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  status = status_after_thread(0);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 4);
  status = status_after_death(PTRACE_O_EXITKILL);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  status = status_after_death(0);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 4);
  death_of_grandchild();
  puts("ended");
  return 0;
}
