/* RLIMIT_DATA and RLIMIT_MEMLOCK: calls beyond them fail, also in replays, which have no such limits. */
#define _GNU_SOURCE
#include <sys/resource.h>

#include "check.h"

enum { kMegabyte = 1 << 20, kPage = 4096 };

static void* map(int prot, int flags) { return mmap(NULL, 4 * kMegabyte, prot, flags | MAP_ANONYMOUS, -1, 0); }

static void data(void) {
  struct rlimit limit = {kMegabyte, RLIM_INFINITY};
  char* block = map(PROT_READ, MAP_PRIVATE);
  CHECK(setrlimit(RLIMIT_DATA, &limit) == 0);
  void* end = sbrk(0);
  CHECK(sbrk(4 * kMegabyte) == (void*)-1 && errno == ENOMEM && sbrk(0) == end);
  CHECK(map(PROT_READ | PROT_WRITE, MAP_PRIVATE) == MAP_FAILED && errno == ENOMEM);
  CHECK(map(PROT_READ, MAP_PRIVATE) != MAP_FAILED && map(PROT_READ | PROT_WRITE, MAP_SHARED) != MAP_FAILED);
  FAILS(mprotect(block, 4 * kMegabyte, PROT_READ | PROT_WRITE), ENOMEM);
}

/* A process that has reached its limit forks. The child makes the same calls. */
static void fork_at_the_limit(void) {
  struct rlimit limit = {kPage, RLIM_INFINITY};
  sigset_t mask;
  for (int i = 0; i < 50; i++) CHECK(sigprocmask(0, NULL, &mask) == 0);
  CHECK(setrlimit(RLIMIT_DATA, &limit) == 0);
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 5; i++) CHECK(sigprocmask(0, NULL, &mask) == 0);
    _exit(0);
  }
  expect_success(child);
}

static void locked(void) {
  struct rlimit limit = {8 * kPage, 8 * kPage};
  CHECK(setrlimit(RLIMIT_MEMLOCK, &limit) == 0);
  CHECK(getuid() != 0 || setresuid(65534, 65534, 65534) == 0);
  CHECK(map(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_LOCKED) == MAP_FAILED && errno == EAGAIN);
  FAILS(mlock(map(PROT_READ | PROT_WRITE, MAP_PRIVATE), 4 * kMegabyte), ENOMEM);
  FAILS(mlockall(MCL_CURRENT), ENOMEM);
  limit.rlim_cur = limit.rlim_max = 0;
  CHECK(setrlimit(RLIMIT_MEMLOCK, &limit) == 0);
  FAILS(mlockall(MCL_FUTURE), EPERM);
}

static void in_child(void (*test)(void)) {
  pid_t child = fork();
  if (child == 0) {
    test();
    _exit(0);
  }
  expect_success(child);
}

int main(void) {
  in_child(data);
  in_child(fork_at_the_limit);
  in_child(locked);
  puts("within limits");
  return 0;
}
