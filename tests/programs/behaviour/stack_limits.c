/* The main stack is as large as its limit says: a larger or smaller one after exec, a larger one at once. */
#define _GNU_SOURCE
#include <sys/resource.h>

#include "check.h"

enum { kKilobyte = 1024 };

static void set_limit(long kilobytes) {
  struct rlimit limit;
  CHECK(getrlimit(RLIMIT_STACK, &limit) == 0);
  limit.rlim_cur = (rlim_t)kilobytes * kKilobyte;
  CHECK(setrlimit(RLIMIT_STACK, &limit) == 0);
}

/* Uses `kilobytes` of the stack, page by page. */
static void use(long kilobytes) {
  volatile char page[4 * kKilobyte];
  page[0] = (char)kilobytes;
  if (kilobytes > 0) use(kilobytes - 4);
  page[1] = page[0];
}

/* Returns the wait status of this program with the stack limit `limit`, if it uses `used` kilobytes. */
static int status_with(long limit, const char* used) {
  pid_t child = fork();
  if (child == 0) {
    set_limit(limit);
    execl("/proc/self/exe", "stack_limits", used, NULL);
    _exit(9);
  }
  return status_of(child);
}

int main(int count, char** arguments) {
  if (count > 1) {
    use(atol(arguments[1]));
    return 0;
  }
  CHECK(status_with(32 * kKilobyte, "20000") == 0);
  CHECK(status_with(1 * kKilobyte, "600") == 0);
  CHECK(WTERMSIG(status_with(1 * kKilobyte, "4000")) == SIGSEGV);
  set_limit(32 * kKilobyte);
  use(20000);
  puts("the stacks were as large as allowed");
  return 0;
}
