/* A crash handler that forks a child, which attaches to its parent and inspects it. */
#define _GNU_SOURCE
#include <sys/prctl.h>
#include <sys/uio.h>
#include "ptrace_check.h"

static volatile long evidence = 0x5ca1ab1e;

static void on_crash(int number, siginfo_t* info, void* context) {
  (void)number, (void)context;
  CHECK(info->si_addr == (void*)16);
  const pid_t crashed = getpid();
  int ready[2];
  CHECK(pipe(ready) == 0);
  pid_t helper = fork();
  if (helper == 0) {
    char byte;
    CHECK(read(ready[0], &byte, 1) == 1);
    CHECK(ptrace(PTRACE_ATTACH, crashed, NULL, NULL) == 0);
    CHECK(stop_of(crashed) == SIGSTOP);
    errno = 0;
    CHECK(ptrace(PTRACE_PEEKDATA, crashed, &evidence, NULL) == 0x5ca1ab1e && errno == 0);
    long copy = 0;
    struct iovec here = {&copy, sizeof copy}, there = {(void*)&evidence, sizeof copy};
    CHECK(process_vm_readv(crashed, &here, 1, &there, 1, 0) == sizeof copy && copy == 0x5ca1ab1e);
    char name[64];
    snprintf(name, sizeof name, "/proc/%d/mem", crashed);
    int memory = open(name, O_RDWR);
    CHECK(memory >= 0 && pread(memory, &copy, sizeof copy, (off_t)(unsigned long)&evidence) == sizeof copy);
    copy = 7;
    CHECK(pwrite(memory, &copy, sizeof copy, (off_t)(unsigned long)&evidence) == sizeof copy);
    snprintf(name, sizeof name, "/proc/%d/status", crashed);
    FILE* status = fopen(name, "r");
    char line[256], expected[64];
    int found = 0;
    snprintf(expected, sizeof expected, "TracerPid:\t%d\n", getpid());
    while (fgets(line, sizeof line, status) != NULL) found += strcmp(line, expected) == 0;
    CHECK(found == 1);
    CHECK(ptrace(PTRACE_DETACH, crashed, NULL, NULL) == 0);
    _exit(0);
  }
  prctl(PR_SET_PTRACER, helper, 0, 0, 0);
  CHECK(write(ready[1], "x", 1) == 1);
  expect_success(helper);
  CHECK(evidence == 7);
  puts("looked at");
  fflush(stdout);
  _exit(0);
}

int main(void) {
  on_signal(SIGSEGV, on_crash, 0);
  *(volatile int*)16 = 1;
  return 1;
}
