/* Helpers for programs that trace each other. */
#pragma once
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include "check.h"

/* Resumes a tracee with PTRACE_CONT or a similar request. */
#define go_on(request, tracee, signal) CHECK(ptrace(request, tracee, NULL, (void*)(long)(signal)) == 0)

/* Waits for the tracee, which must stop. Returns the signal of its stop, and the event in the bits above. */
static inline int stop_of(pid_t tracee) {
  int status = -1;
  pid_t waited = waitpid(tracee, &status, __WALL);
  if (waited != tracee || !WIFSTOPPED(status))
    fprintf(stderr, "waited for %d: %d, status %#x\n", (int)tracee, (int)waited, (unsigned)status);
  CHECK(waited == tracee && WIFSTOPPED(status));
  return status >> 8;
}

static inline struct user_regs_struct registers_of(pid_t tracee) {
  struct user_regs_struct registers;
  CHECK(ptrace(PTRACE_GETREGS, tracee, NULL, &registers) == 0);
  return registers;
}

static inline void set_registers(pid_t tracee, struct user_regs_struct registers) {
  CHECK(ptrace(PTRACE_SETREGS, tracee, NULL, &registers) == 0);
}

static inline siginfo_t siginfo_of(pid_t tracee) {
  siginfo_t info;
  CHECK(ptrace(PTRACE_GETSIGINFO, tracee, NULL, &info) == 0);
  return info;
}

/* Returns a traced child that has stopped by raise(SIGSTOP). Returns 0 in the child when it is resumed. */
static inline pid_t fork_traced(void) {
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    CHECK(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0);
    raise(SIGSTOP);
    return 0;
  }
  CHECK(stop_of(child) == SIGSTOP);
  CHECK(ptrace(PTRACE_SETOPTIONS, child, NULL, (void*)PTRACE_O_EXITKILL) == 0);
  return child;
}
