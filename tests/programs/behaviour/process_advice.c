/* process_madvise on the process itself and on a child. */
#define _GNU_SOURCE
#include <sys/uio.h>
#include "check.h"

#define BYTES (64 << 10)
int main(void) {
  int self = (int)syscall(SYS_pidfd_open, getpid(), 0);
  char* memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(memory, 'a', BYTES);
  struct iovec parts[2] = {{memory, 4096}, {memory + 8192, 8192}};
  CHECK(syscall(SYS_process_madvise, self, parts, 2, MADV_COLD, 0) == 12288);
  CHECK(syscall(SYS_process_madvise, self, parts, 2, MADV_WILLNEED, 0) == 12288);
  CHECK(memory[0] == 'a' && memory[8192] == 'a');
  errno = 0;
  long n = syscall(SYS_process_madvise, self, parts, 2, MADV_DONTNEED, 0);
  printf("%ld %d: %d %d %d %d\n", n, n < 0 ? errno : 0, memory[0], memory[4096], memory[8192], memory[16384]);
  struct iovec bad[2] = {{memory, 4096}, {(void*)0x10000, 4096}};
  memset(memory, 'b', BYTES);
  errno = 0;
  n = syscall(SYS_process_madvise, self, bad, 2, MADV_DONTNEED, 0);
  printf("%ld %d: %d\n", n, n < 0 ? errno : 0, memory[0]);
  FAILS(syscall(SYS_process_madvise, self, parts, 2, MADV_DONTNEED, 1), EINVAL);
  FAILS(syscall(SYS_process_madvise, self, parts, 2, 12345, 0), EINVAL);
  FAILS(syscall(SYS_process_madvise, 999, parts, 2, MADV_COLD, 0), EBADF);
  int ends[2];
  CHECK(pipe(ends) == 0);
  pid_t child = fork();
  if (child == 0) {
    char byte;
    close(ends[1]);
    CHECK(read(ends[0], &byte, 1) == 0 && memory[0] == (n > 0 ? 0 : 'b') && memory[4096] == 'b');
    _exit(0);
  }
  int other = (int)syscall(SYS_pidfd_open, child, 0);
  CHECK(syscall(SYS_process_madvise, other, parts, 2, MADV_COLD, 0) == 12288);
  CHECK(syscall(SYS_process_madvise, other, parts, 2, MADV_PAGEOUT, 0) == 12288);
  FAILS(syscall(SYS_process_madvise, other, parts, 2, MADV_DONTNEED, 0), EINVAL);
  close(ends[1]);
  expect_success(child);
  FAILS(syscall(SYS_process_madvise, other, parts, 2, MADV_COLD, 0), ESRCH);
  puts("advised");
  return 0;
}
