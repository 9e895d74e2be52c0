/* Attributes of the machine and modes of the kernel that a process can query or set: arch_prctl, personality, keys,
 * lists of locks. */
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/personality.h>
#include <sys/uio.h>
#include "check.h"

#define NOT_CANONICAL 0x8000000000000000

static void segments(void) {
  unsigned long base = 1;
  CHECK(syscall(SYS_arch_prctl, ARCH_GET_GS, &base) == 0 && base == 0);
  CHECK(syscall(SYS_arch_prctl, ARCH_GET_FS, &base) == 0 && base != 0);
  FAILS(syscall(SYS_arch_prctl, ARCH_SET_FS, NOT_CANONICAL), EPERM);
  FAILS(syscall(SYS_arch_prctl, ARCH_SET_GS, NOT_CANONICAL), EPERM);
  FAILS(syscall(SYS_arch_prctl, ARCH_GET_FS, 8), EFAULT);
  FAILS(syscall(SYS_arch_prctl, 0x7777, 0), EINVAL);
  CHECK(syscall(SYS_arch_prctl, ARCH_GET_CPUID, 0) == 1);
}

static void readable_is_executable(void) {
  static const unsigned char kReturns = 0xc3;
  CHECK(personality(0xffffffff) == PER_LINUX && personality(READ_IMPLIES_EXEC) == PER_LINUX);
  char* p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(p != MAP_FAILED);
  memcpy(p, &kReturns, 1);
  ((void (*)(void))(uintptr_t)p)();
  CHECK(personality(PER_LINUX) == READ_IMPLIES_EXEC);
}

static void keys(void) {
  char* p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  FAILS(pkey_mprotect(p, 4096, PROT_READ, 14), EINVAL);
  CHECK(pkey_mprotect(p, 4096, PROT_READ, -1) == 0);
  int key = pkey_alloc(0, 0);
  if (key >= 0) CHECK(pkey_mprotect(p, 4096, PROT_READ | PROT_WRITE, key) == 0 && (p[0] = 1) && pkey_free(key) == 0);
}

static void robust_lists(void) {
  void *head, *again;
  size_t bytes;
  CHECK(syscall(SYS_get_robust_list, 0, &head, &bytes) == 0 && bytes == 24);
  CHECK(syscall(SYS_get_robust_list, getpid(), &again, &bytes) == 0 && head == again);
  FAILS(syscall(SYS_get_robust_list, 0x3ffffffe, &head, &bytes), ESRCH);
  FAILS(syscall(SYS_set_robust_list, head, 7), EINVAL);
}

static void answers_of_seccomp(void) {
  unsigned short sizes[3];
  unsigned action = SECCOMP_RET_TRAP, unknown = 12345;
  CHECK(syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, sizes) == 0 && sizes[0] == 80 && sizes[2] == 64);
  CHECK(syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0);
  FAILS(syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &unknown), EOPNOTSUPP);
}

/* MADV_DONTNEED by process_madvise either works or fails without an effect, depending on the kernel. */
static void advice(void) {
  int self = (int)syscall(SYS_pidfd_open, getpid(), 0);
  char* p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  struct iovec range = {p, 4096};
  p[0] = 7;
  CHECK(syscall(SYS_process_madvise, self, &range, 1, MADV_COLD, 0) == 4096);
  CHECK(syscall(SYS_process_madvise, self, &range, 1, MADV_DONTNEED, 0) == 4096 ? p[0] == 0 : p[0] == 7);
  FAILS(syscall(SYS_process_madvise, self, &range, 1, 999, 0), EINVAL);
}

/* After chroot to a folder without /proc, files can still be mapped. Needs the right to chroot. */
static void changed_root(void) {
  char folder[] = "/tmp/reweave-root-XXXXXX";
  CHECK(mkdtemp(folder) != NULL && chdir(folder) == 0);
  int fd = open("file", O_RDWR | O_CREAT, 0600);
  CHECK(fd >= 0 && write(fd, "inside", 6) == 6 && close(fd) == 0);
  pid_t child = fork();
  if (child == 0) {
    if (chroot(".") != 0) _exit(errno != EPERM);
    fd = open("/file", O_RDONLY);
    char* p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
    CHECK(p != MAP_FAILED && memcmp(p, "inside", 6) == 0);
    _exit(0);
  }
  expect_success(child);
  CHECK(unlink("file") == 0 && rmdir(folder) == 0);
}

int main(void) {
  segments();
  readable_is_executable();
  keys();
  robust_lists();
  answers_of_seccomp();
  advice();
  changed_root();
  puts("attributes");
  return 0;
}
