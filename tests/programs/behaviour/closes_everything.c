/* Closes every possible descriptor, one by one and by range, and uses descriptor numbers that Reweave may use. */
#include <sys/resource.h>

#include "check.h"

int main(void) {
  int output = dup(1);
  CHECK(output == 3);
  for (int fd = 4; fd < 70000; fd++) FAILS(close(fd), EBADF);
  CHECK(syscall(SYS_close_range, 4u, ~0u, 0u) == 0);
  for (int fd = 1000; fd < 1004; fd++) {
    FAILS(fcntl(fd, F_GETFD), EBADF);
    FAILS(write(fd, "x", 1), EBADF);
    FAILS(dup(fd), EBADF);
  }
  close(0), close(1), close(2);
  CHECK(write(output, "written\n", 8) == 8);
  int again = open("/dev/null", O_RDONLY);
  CHECK(again == 0);
  pid_t child = fork();
  if (child == 0) _exit(write(output, "child\n", 6) == 6 ? 0 : 1);
  expect_success(child);
  return 0;
}
