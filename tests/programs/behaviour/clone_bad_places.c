/* clone with addresses that cannot be written: the ids are not stored there and the child runs; a pidfd that cannot be
 * stored fails the call, and so does an impossible TLS address. */
#define _GNU_SOURCE
#include <sched.h>

#include "check.h"

static void* const kNowhere = (void*)8;

static long clone_with(unsigned long flags, void* parent, void* child, unsigned long tls) {
  long pid = syscall(SYS_clone, flags | SIGCHLD, 0, parent, child, tls);
  if (pid == 0) _exit(4);
  return pid;
}

static void expect_child(long pid) {
  CHECK(pid > 0);
  int status = status_of((pid_t)pid);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 4);
}

int main(void) {
  expect_child(clone_with(CLONE_PARENT_SETTID, kNowhere, NULL, 0));
  expect_child(clone_with(CLONE_CHILD_SETTID, NULL, kNowhere, 0));
  expect_child(clone_with(CLONE_CHILD_CLEARTID, NULL, kNowhere, 0));
  void* constant = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  expect_child(clone_with(CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID, NULL, constant, 0));
  FAILS(clone_with(CLONE_PIDFD, kNowhere, NULL, 0), EFAULT);
  FAILS(clone_with(CLONE_SETTLS, NULL, NULL, 1UL << 47), EPERM);
  FAILS(waitpid(-1, NULL, WNOHANG), ECHILD);
  puts("nothing was stored");
  return 0;
}
