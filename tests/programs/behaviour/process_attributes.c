/* Attributes of processes: limits, priorities, processors, credentials, sessions, masks, prctl; and /proc/self. */
#define _GNU_SOURCE
#include <sched.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include "check.h"

static void processors(void) {
  cpu_set_t all, one;
  CHECK(sched_getaffinity(0, sizeof all, &all) == 0 && CPU_COUNT(&all) > 0);
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
    if (!CPU_ISSET(cpu, &all)) continue;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0 && sched_getaffinity(0, sizeof one, &one) == 0);
    CHECK(CPU_COUNT(&one) == 1 && CPU_ISSET(cpu, &one) && sched_getcpu() == cpu);
  }
  CPU_ZERO(&one);
  FAILS(sched_setaffinity(0, sizeof one, &one), EINVAL);
}

static void limits(void) {
  struct rlimit files, seen;
  CHECK(getrlimit(RLIMIT_NOFILE, &files) == 0);
  files.rlim_cur = 64;
  CHECK(setrlimit(RLIMIT_NOFILE, &files) == 0 && prlimit(0, RLIMIT_NOFILE, NULL, &seen) == 0 && seen.rlim_cur == 64);
  int fd, last = -1;
  while ((fd = open("/dev/null", O_RDONLY)) >= 0) last = fd;
  CHECK(errno == EMFILE && last == 63);
  for (fd = 10; fd <= last; fd++) close(fd);
  struct rlimit size = {100, RLIM_INFINITY};
  char name[] = "/tmp/reweave-limit-XXXXXX";
  fd = mkstemp(name);
  unlink(name);
  signal(SIGXFSZ, SIG_IGN);
  CHECK(setrlimit(RLIMIT_FSIZE, &size) == 0 && pwrite(fd, name, 10, 95) == 5);
  FAILS(pwrite(fd, name, 10, 100), EFBIG);
  size.rlim_cur = RLIM_INFINITY;
  CHECK(setrlimit(RLIMIT_FSIZE, &size) == 0);
}

static void names(void) {
  char name[17] = "", text[64] = "";
  struct utsname system;
  CHECK(prctl(PR_SET_NAME, "a name") == 0 && prctl(PR_GET_NAME, name) == 0 && strcmp(name, "a name") == 0);
  int fd = open("/proc/self/comm", O_RDONLY);
  CHECK(read(fd, text, sizeof text) == 7 && strcmp(text, "a name\n") == 0 && close(fd) == 0);
  CHECK(uname(&system) == 0 && strcmp(system.sysname, "Linux") == 0);
}

static void process_flags(void) {
  int value = -1;
  CHECK(prctl(PR_GET_DUMPABLE) == 1 && prctl(PR_SET_DUMPABLE, 0) == 0 && prctl(PR_GET_DUMPABLE) == 0 &&
        prctl(PR_SET_DUMPABLE, 1) == 0);
  CHECK(prctl(PR_SET_PDEATHSIG, SIGHUP) == 0 && prctl(PR_GET_PDEATHSIG, &value) == 0 && value == SIGHUP);
  CHECK(prctl(PR_SET_PDEATHSIG, 0) == 0 && prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
  CHECK(prctl(PR_GET_CHILD_SUBREAPER, &value) == 0 && value == 1 && prctl(PR_GET_TIMERSLACK) > 0);
  CHECK(prctl(PR_SET_KEEPCAPS, 1) == 0 && prctl(PR_GET_KEEPCAPS) == 1 && prctl(PR_CAPBSET_READ, 0) >= 0);
  CHECK(prctl(PR_GET_TSC, &value) == 0 && value == PR_TSC_ENABLE);
  FAILS(prctl(9999, 0, 0, 0, 0), EINVAL);
}

static void sessions(void) {
  pid_t child = fork();
  if (child == 0) {
    CHECK(setsid() == getpid() && getsid(0) == getpid() && getpgrp() == getpid());
    FAILS(setsid(), EPERM);
    pid_t grandchild = fork();
    if (grandchild == 0) {
      CHECK(setpgid(0, 0) == 0 && getpgid(0) == getpid() && getsid(0) == getppid());
      _exit(0);
    }
    expect_success(grandchild);
    _exit(0);
  }
  expect_success(child);
}

static void credentials(void) {
  uid_t real, effective, saved;
  gid_t groups[64];
  CHECK(getresuid(&real, &effective, &saved) == 0 && real == getuid() && effective == geteuid());
  CHECK(setresuid(real, effective, saved) == 0 && getgroups(64, groups) >= 0 && setfsuid(effective) == (int)effective);
  mode_t old = umask(027);
  CHECK(umask(old) == 027);
  int priority = getpriority(PRIO_PROCESS, 0);
  CHECK(setpriority(PRIO_PROCESS, 0, priority + 1) == 0 && getpriority(PRIO_PROCESS, 0) == priority + 1);
  struct sched_param param;
  struct timespec slice;
  CHECK(sched_getscheduler(0) == SCHED_OTHER && sched_getparam(0, &param) == 0 &&
        sched_rr_get_interval(0, &slice) == 0);
  CHECK(sched_get_priority_max(SCHED_FIFO) == 99);
}

/* The runtime is invisible in the files where programs look for their own memory and descriptors. */
static void own_proc(void) {
  char line[8192], path[4096];
  int heap = 0, stack = 0, program = 0, lines = 0;
  ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
  CHECK(n > 0);
  path[n] = 0;
  free(malloc(100));
  FILE* maps = fopen("/proc/self/maps", "r");
  CHECK(maps != NULL);
  while (fgets(line, sizeof line, maps) != NULL) {
    unsigned long start, end;
    char flags[8];
    CHECK(sscanf(line, "%lx-%lx %7s", &start, &end, flags) == 3 && start < end);
    heap += strstr(line, "[heap]") != NULL, stack += strstr(line, "[stack]") != NULL;
    program += strstr(line, path) != NULL, lines++;
    CHECK(strstr(line, "reweave-core") == NULL && strstr(line, "memfd:reweave") == NULL);
  }
  CHECK(heap == 1 && stack == 1 && program >= 3 && lines > 8 && fclose(maps) == 0);
  FILE* status = fopen("/proc/self/status", "r");
  CHECK(status != NULL && fgets(line, sizeof line, status) != NULL && strcmp(line, "Name:\ta name\n") == 0);
  fclose(status);
  FILE* command = fopen("/proc/self/cmdline", "r");
  CHECK(fread(line, 1, sizeof line, command) > 0 && strstr(line, "process_attributes") != NULL && fclose(command) == 0);
}

int main(void) {
  names();
  own_proc();
  processors();
  limits();
  process_flags();
  sessions();
  credentials();
  puts("attributes");
  return 0;
}
