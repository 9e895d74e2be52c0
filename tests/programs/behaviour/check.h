/* For programs that check their own results: CHECK prints which one is wrong and exits with status 1. */
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

static inline void check_failed(const char* file, int line, const char* condition) {
  fprintf(stderr, "%s:%d: not so: %s (errno %d, %s)\n", file, line, condition, errno, strerror(errno));
  _exit(1);
}

#define CHECK(condition) ((condition) ? (void)0 : check_failed(__FILE__, __LINE__, #condition))

#define FAILS(expression, error) CHECK((expression) == -1 && errno == (error))

/* Waits for the child to end. Returns its wait status. */
static inline int status_of(pid_t child) {
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child);
  return status;
}

static inline void expect_success(pid_t child) {
  int status = status_of(child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static inline void on_signal(int number, void (*handler)(int, siginfo_t*, void*), int flags) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | flags;
  CHECK(sigaction(number, &action, NULL) == 0);
}
