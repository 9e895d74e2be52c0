/* /proc shows a process the signals that it blocks, ignores, handles, and that are pending for it. */
#define _GNU_SOURCE
#include <pthread.h>
#include "check.h"

static void nothing(int number, siginfo_t* info, void* context) { (void)number, (void)info, (void)context; }

static unsigned long mask_in(const char* file, const char* name) {
  char line[256];
  unsigned long value = 0;
  FILE* status = fopen(file, "r");
  CHECK(status != NULL);
  int found = 0;
  while (fgets(line, sizeof line, status) != NULL)
    if (strncmp(line, name, strlen(name)) == 0) found += sscanf(line + strlen(name), ": %lx", &value) == 1;
  fclose(status);
  if (found != 1) fprintf(stderr, "%s: %s\n", file, name);
  CHECK(found == 1);
  return value;
}

static unsigned long bits(int a, int b, int c) {
  return (a ? 1ul << (a - 1) : 0) | (b ? 1ul << (b - 1) : 0) | (c ? 1ul << (c - 1) : 0);
}

static int go[2], done[2];
static void* other(void* argument) {
  char file[64], byte;
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigaddset(&set, SIGUSR2);
  sigaddset(&set, SIGTERM);
  pthread_sigmask(SIG_SETMASK, &set, NULL);
  pthread_kill(pthread_self(), SIGTERM);
  snprintf(file, sizeof file, "/proc/self/task/%ld/status", syscall(SYS_gettid));
  CHECK(mask_in(file, "SigBlk") == bits(SIGUSR1, SIGUSR2, SIGTERM));
  CHECK(mask_in("/proc/thread-self/status", "SigBlk") == bits(SIGUSR1, SIGUSR2, SIGTERM));
  CHECK(mask_in(file, "SigPnd") == bits(SIGTERM, 0, 0));
  CHECK(write(done[1], argument, 4) == 4 && read(go[0], &byte, 1) == 1);
  int number;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  CHECK(sigwait(&set, &number) == 0 && number == SIGTERM);
  return NULL;
}

int main(void) {
  sigset_t set;
  const char* own = "/proc/self/status";
  unsigned long mine = mask_in(own, "SigIgn");
  CHECK(mask_in(own, "SigCgt") == 0 && mask_in(own, "SigBlk") == 0);
  CHECK(mask_in(own, "SigPnd") == 0 && mask_in(own, "ShdPnd") == 0);
  on_signal(SIGUSR1, nothing, 0);
  on_signal(SIGSEGV, nothing, 0);
  on_signal(SIGSYS, nothing, 0);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  CHECK(mask_in(own, "SigCgt") == bits(SIGUSR1, SIGSEGV, SIGSYS));
  CHECK(mask_in(own, "SigIgn") == (mine | bits(SIGPIPE, SIGHUP, 0)));
  sigemptyset(&set);
  sigaddset(&set, SIGTRAP);
  sigaddset(&set, SIGUSR1);
  sigaddset(&set, 63);
  sigprocmask(SIG_SETMASK, &set, NULL);
  CHECK(mask_in(own, "SigBlk") == bits(SIGTRAP, SIGUSR1, 63));
  CHECK(raise(SIGUSR1) == 0 && kill(getpid(), SIGTRAP) == 0 && kill(getpid(), 63) == 0);
  CHECK(mask_in(own, "SigPnd") == bits(SIGUSR1, 0, 0));
  CHECK(mask_in(own, "ShdPnd") == bits(SIGTRAP, 63, 0));
  char file[64];
  snprintf(file, sizeof file, "/proc/%d/status", getpid());
  CHECK(mask_in(file, "SigBlk") == bits(SIGTRAP, SIGUSR1, 63));
  pid_t child = fork();
  if (child == 0) {
    snprintf(file, sizeof file, "/proc/%d/status", getppid());
    CHECK(mask_in(own, "SigPnd") == 0 && mask_in(own, "ShdPnd") == 0);
    CHECK(mask_in(own, "SigBlk") == bits(SIGTRAP, SIGUSR1, 63));
    CHECK(mask_in(file, "SigBlk") == bits(SIGTRAP, SIGUSR1, 63));
    CHECK(mask_in(file, "SigCgt") == bits(SIGUSR1, SIGSEGV, SIGSYS));
    CHECK(mask_in(file, "ShdPnd") == bits(SIGTRAP, 63, 0));
    _exit(0);
  }
  expect_success(child);
  int number;
  for (int i = 0; i < 3; i++) CHECK(sigwait(&set, &number) == 0);
  CHECK(mask_in(own, "ShdPnd") == 0 && mask_in(own, "SigPnd") == 0);
  pthread_t thread;
  int tid = 0;
  CHECK(pipe(go) == 0 && pipe(done) == 0);
  CHECK(pthread_create(&thread, NULL, other, &tid) == 0);
  CHECK(read(done[0], &tid, 4) == 4);
  CHECK(mask_in(own, "SigBlk") == bits(SIGTRAP, SIGUSR1, 63));
  CHECK(mask_in(own, "Threads") == 2);
  CHECK(write(go[1], "x", 1) == 1 && pthread_join(thread, NULL) == 0);
  puts("masks");
  return 0;
}
