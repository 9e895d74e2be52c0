/* 32-bit arguments whose registers have other bits above them, as arguments of syscall(2) may: the kernel ignores
 * those bits, and 0x00000000ffffff9c is AT_FDCWD. */
#define _GNU_SOURCE
#include <poll.h>
#include <sys/prctl.h>
#include <sys/select.h>

#include "check.h"

#define ABOVE 0xbadc0ded00000000ul
#define WITH(number) (ABOVE | (unsigned)(number))

static void output(void) {
  CHECK(syscall(SYS_write, WITH(1), "written\n", 8ul) == 8);
  int copy = (int)syscall(SYS_dup, WITH(1));
  CHECK(copy > 2 && syscall(SYS_dup2, WITH(1), WITH(copy)) == copy);
  CHECK(syscall(SYS_write, WITH(copy), "by a copy\n", 10ul) == 10 && syscall(SYS_close, WITH(copy)) == 0);
  FAILS(syscall(SYS_close, WITH(copy)), EBADF);
  for (int fd = 1000; fd < 1004; fd++) {
    FAILS(syscall(SYS_close, WITH(fd)), EBADF);
    FAILS(syscall(SYS_dup, WITH(fd)), EBADF);
  }
}

static void commands_and_counts(void) {
  char name[16] = "";
  int reaper = -1;
  CHECK(prctl(PR_SET_NAME, "a name") == 0);
  CHECK(syscall(SYS_prctl, WITH(PR_GET_NAME), name) == 0);
  CHECK(syscall(SYS_prctl, WITH(PR_GET_CHILD_SUBREAPER), &reaper) == 0);
  printf("called %s, reaper %d\n", name, reaper);
  CHECK(syscall(SYS_fcntl, WITH(1), WITH(F_GETFD)) == 0);
  unsigned attributes[12] = {0};
  CHECK(syscall(SYS_sched_getattr, WITH(0), attributes, WITH(48), WITH(0)) == 0);
  printf("attributes of %u bytes\n", attributes[0]);
  void* list = NULL;
  size_t bytes = 0;
  CHECK(syscall(SYS_get_robust_list, WITH(getpid()), &list, &bytes) == 0 && list != NULL && bytes == 24);
}

static void mapping(void) {
  int fd = open("/proc/self/exe", O_RDONLY);
  char* map = (char*)syscall(SYS_mmap, NULL, 4096ul, (long)PROT_READ, (long)MAP_PRIVATE, WITH(fd), 0ul);
  CHECK(fd >= 0 && map != MAP_FAILED && memcmp(map, "\177ELF", 4) == 0);
}

static void readiness(void) {
  int ends[2];
  CHECK(pipe(ends) == 0 && write(ends[1], "x", 1) == 1);
  struct pollfd wanted = {ends[0], POLLIN, 0};
  CHECK(syscall(SYS_poll, &wanted, WITH(1), WITH(-1)) == 1 && wanted.revents == POLLIN);
  wanted.revents = 0;
  CHECK(syscall(SYS_ppoll, &wanted, WITH(1), NULL, NULL, 8ul) == 1 && wanted.revents == POLLIN);
  fd_set set;
  FD_ZERO(&set);
  FD_SET(ends[0], &set);
  CHECK(syscall(SYS_select, WITH(ends[0] + 1), &set, NULL, NULL, NULL) == 1 && FD_ISSET(ends[0], &set));
  CHECK(syscall(SYS_pselect6, WITH(ends[0] + 1), &set, NULL, NULL, NULL, NULL) == 1 && FD_ISSET(ends[0], &set));
}

static void negative_numbers(void) {
  int fd = (int)syscall(SYS_openat, (unsigned long)(unsigned)AT_FDCWD, "/dev/null", WITH(O_RDONLY), 0ul);
  CHECK(fd >= 0);
  pid_t child = fork();
  if (child == 0) {
    CHECK(setpgid(0, 0) == 0 && kill(getpid(), SIGSTOP) == 0);
    pause();
  }
  int status = 0;
  CHECK(waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status));
  CHECK(syscall(SYS_kill, (unsigned long)(unsigned)-child, WITH(SIGKILL)) == 0); /* its group, and nobody else */
  status = status_of(child);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  FAILS(syscall(SYS_tgkill, getpid(), -1, 0), EINVAL);
}

int main(void) {
  output();
  commands_and_counts();
  mapping();
  readiness();
  negative_numbers();
  puts("looked at no more than there is");
  return 0;
}
