/* Calls with several faults: the kernel reports the one that it checks first, which is not always the unmapped
 * memory. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "check.h"

#define BAD ((void*)8)
#define REFUSED(error, ...) FAILS(syscall(__VA_ARGS__), error)

static void paths(void) {
  struct stat status;
  REFUSED(EINVAL, SYS_faccessat, AT_FDCWD, BAD, 8);
  REFUSED(EFAULT, SYS_faccessat, AT_FDCWD, BAD, 0);
  REFUSED(EINVAL, SYS_faccessat2, AT_FDCWD, BAD, 0, 1);
  REFUSED(E2BIG, SYS_openat2, AT_FDCWD, BAD, BAD, 100000ul);
  REFUSED(EINVAL, SYS_openat2, AT_FDCWD, BAD, BAD, 1ul);
  REFUSED(EINVAL, SYS_newfstatat, AT_FDCWD, BAD, &status, 1);
  REFUSED(EINVAL, SYS_statx, AT_FDCWD, BAD, -1, 0, BAD);
  REFUSED(EINVAL, SYS_readlinkat, AT_FDCWD, BAD, BAD, 0);
  REFUSED(EINVAL, SYS_truncate, BAD, -1l);
  REFUSED(EFAULT, SYS_execveat, AT_FDCWD, BAD, NULL, NULL, 8);
  REFUSED(ENOENT, SYS_execveat, AT_FDCWD, "", NULL, NULL, 8);
  REFUSED(EINVAL, SYS_execveat, AT_FDCWD, "x", BAD, BAD, 8);
  REFUSED(EINVAL, SYS_name_to_handle_at, AT_FDCWD, BAD, BAD, BAD, -1);
  REFUSED(EINVAL, SYS_process_madvise, -1, BAD, 1ul, 0, 1);
}

static void time_limits(void) {
  char* page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  struct timespec wrong = {0, -1};
  CHECK(mprotect(page + 4096, 4096, PROT_NONE) == 0);
  REFUSED(EFAULT, SYS_select, -1, NULL, NULL, NULL, BAD);
  REFUSED(EINVAL, SYS_select, 1, BAD, NULL, NULL, &wrong);
  REFUSED(EINVAL, SYS_pselect6, 1, BAD, NULL, NULL, &wrong, NULL);
  REFUSED(EINVAL, SYS_select, -1, BAD, NULL, NULL, NULL);
  CHECK(syscall(SYS_epoll_pwait2, -1, BAD, 0, page + 4088, BAD, 2ul) == -1 && (errno == EFAULT || errno == ENOSYS));
}

static void copies_to_output(void) {
  REFUSED(EINVAL, SYS_splice, -1, NULL, 1, NULL, 1ul, 0x100);
  CHECK(syscall(SYS_splice, -1, NULL, 1, NULL, 0ul, 0x100) == 0);
  REFUSED(EBADF, SYS_splice, -1, NULL, 1, NULL, 1ul, 0);
  REFUSED(EINVAL, SYS_tee, -1, 1, 1ul, 0x100);
  REFUSED(EBADF, SYS_sendfile, 1, -1, NULL, 1ul);
  REFUSED(EINVAL, SYS_vmsplice, 1, BAD, 1, 0x100);
  REFUSED(EINVAL, SYS_unshare, 0x20000001);
}

static void signals_and_locks(void) {
  int word = 0;
  void* list = NULL;
  size_t length = 0;
  REFUSED(EFAULT, SYS_get_robust_list, 0, BAD, &length);
  CHECK(length == 24);
  length = 0;
  REFUSED(EFAULT, SYS_get_robust_list, 0, &list, BAD);
  CHECK(list == NULL);
  CHECK((int)syscall(SYS_modify_ldt, 77, &list, 1ul << 33) == -ENOSYS);
  struct timespec soon = {0, 1};
  REFUSED(EFAULT, SYS_rt_sigaction, 100, BAD, NULL, 8ul);
  REFUSED(EINVAL, SYS_rt_sigaction, 100, BAD, NULL, 4ul);
  REFUSED(EINVAL, SYS_rt_sigsuspend, BAD, 2ul);
  REFUSED(EINVAL, SYS_ppoll, NULL, 0, &soon, BAD, 2ul);
  REFUSED(EFAULT, SYS_ppoll, NULL, 0, BAD, BAD, 2ul);
  REFUSED(EINVAL, SYS_epoll_pwait, -1, BAD, 0, 0, BAD, 2ul);
  CHECK(syscall(SYS_epoll_pwait2, -1, BAD, 0, BAD, BAD, 2ul) == -1 && (errno == EFAULT || errno == ENOSYS));
  REFUSED(EINVAL, SYS_futex, &word, FUTEX_WAIT_BITSET, 1, NULL, NULL, 0);
  REFUSED(EINVAL, SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0x40000000, BAD);
  REFUSED(EFAULT, SYS_getrlimit, RLIMIT_AS, NULL);
  REFUSED(EFAULT, SYS_setrlimit, RLIMIT_AS, NULL);
  REFUSED(EFAULT, SYS_sched_setaffinity, 0, 1, BAD);
}

static void ranges(void) {
  REFUSED(EINVAL, SYS_mmap, NULL, -1l, PROT_READ, MAP_PRIVATE, -1, 1l);
  REFUSED(EINVAL, SYS_mmap, NULL, -1l, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 1l);
  REFUSED(EINVAL, SYS_mprotect, 1000000l, -4096l, PROT_READ);
  REFUSED(EINVAL, SYS_pkey_mprotect, 1000000l, 0x10000000l, -1, 8);
}

static void sockets(void) {
  int ends[2];
  socklen_t length = 8;
  CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0);
  REFUSED(EBADF, SYS_accept, -1, BAD, BAD);
  REFUSED(EBADF, SYS_getsockname, -1, &length, BAD);
  REFUSED(EBADF, SYS_getsockopt, -1, 1, 1, &length, BAD);
  REFUSED(EBADF, SYS_readv, -1, BAD, 1);
  /* There is no message, but the bad address comes first. */
  REFUSED(EFAULT, SYS_recvmmsg, ends[0], BAD, 1, 0, NULL);
  REFUSED(EFAULT, SYS_recvmsg, ends[0], BAD, 0);
  CHECK(syscall(SYS_recvmmsg, ends[0], BAD, 0, 0, NULL) == 0);
}

/* A processor set needs only as many bits as there are processors. */
static void short_sets(void) {
  unsigned char set[8] = {0};
  int bytes = (int)syscall(SYS_sched_getaffinity, 0, 8, set);
  CHECK(bytes == 8 || (bytes == -1 && errno == EINVAL));
  if (bytes == 8) CHECK(syscall(SYS_sched_setaffinity, 0, 8, set) == 0);
  if (bytes == 8 && set[0] != 0) CHECK(syscall(SYS_sched_setaffinity, 0, 1, set) == 0);
}

int main(void) {
  paths();
  time_limits();
  copies_to_output();
  signals_and_locks();
  ranges();
  sockets();
  short_sets();
  puts("told what is wrong first");
  return 0;
}
