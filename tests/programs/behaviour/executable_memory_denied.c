/* PR_SET_MDWE: no memory is both writable and executable, and none becomes executable. Children inherit this. */
#define _GNU_SOURCE
#include <sys/prctl.h>
#include "check.h"

#define SET_MDWE 65
#define GET_MDWE 66

static void is_denied(void) {
  char* memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  FAILS(mprotect(memory, 4096, PROT_READ | PROT_EXEC), EACCES);
  memory[0] = 1;
  CHECK(mmap(NULL, 4096, PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED && errno == EACCES);
  char* code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(code != MAP_FAILED && mprotect(code, 4096, PROT_READ) == 0);
  FAILS(mprotect(code, 4096, PROT_READ | PROT_EXEC), EACCES);
}

int main(void) {
  FAILS(prctl(SET_MDWE, 2, 0, 0, 0), EINVAL);
  FAILS(prctl(SET_MDWE, 1, 1, 0, 0), EINVAL);
  CHECK(prctl(GET_MDWE, 0, 0, 0, 0) == 0);
  if (prctl(SET_MDWE, 1, 0, 0, 0) != 0) {
    puts("this kernel has no PR_SET_MDWE");
    return 0;
  }
  CHECK(prctl(GET_MDWE, 0, 0, 0, 0) == 1);
  FAILS(prctl(SET_MDWE, 0, 0, 0, 0), EPERM);
  is_denied();
  for (int i = 0; i < 20; i++) CHECK(getppid() > 0);
  pid_t child = fork();
  if (child == 0) {
    is_denied();
    for (int i = 0; i < 20; i++) CHECK(umask(022) <= 0777);
    _exit(0);
  }
  expect_success(child);
  puts("denied");
  return 0;
}
