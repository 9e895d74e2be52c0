/* mmap, mremap, madvise and their relatives: flags, errors, and what the memory holds afterwards. */
#define _GNU_SOURCE
#include <sys/resource.h>
#include <sys/uio.h>
#include "faults.h"

static const size_t kPage = 4096;

static char* pages(size_t n) {
  char* p = mmap(NULL, n * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(p != MAP_FAILED);
  return p;
}

static void fixed_places(void) {
  char* p = pages(4);
  memset(p, 1, 4 * kPage);
  FAILS((long)mmap(p, kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0), EEXIST);
  CHECK(mmap(p + kPage, kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == p + kPage);
  CHECK(p[0] == 1 && p[kPage] == 0 && p[2 * kPage] == 1);
  CHECK(munmap(p + 2 * kPage, kPage) == 0 && faults(p + 2 * kPage) == SIGSEGV && p[3 * kPage] == 1);
  CHECK(mmap(p + 2 * kPage, kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) ==
        p + 2 * kPage);
  CHECK(faults(p + 2 * kPage) == SIGSEGV && munmap(p, 4 * kPage) == 0 && munmap(p, 4 * kPage) == 0);
  FAILS((long)mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), EINVAL);
  FAILS((long)mmap(p + 1, kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0), EINVAL);
  FAILS((long)mmap(NULL, kPage, PROT_READ, MAP_ANONYMOUS, -1, 0), EINVAL);
  FAILS((long)mmap(NULL, kPage, PROT_READ, MAP_PRIVATE, -1, 0), EBADF);
  FAILS((long)mmap(NULL, kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 5), EINVAL);
  FAILS(munmap(p + 1, kPage), EINVAL);
  FAILS(mprotect(p + 1, kPage, PROT_READ), EINVAL);
  FAILS(mprotect(p, kPage, PROT_READ), ENOMEM);
}

static void moved(void) {
  char* p = pages(8);
  for (int i = 0; i < 8; i++) p[i * (long)kPage] = (char)i;
  CHECK(mremap(p, 8 * kPage, 4 * kPage, 0) == p && faults(p + 4 * kPage) == SIGSEGV);
  char* hole = p + 4 * kPage;
  CHECK(mmap(hole, kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == hole);
  FAILS((long)mremap(p, 4 * kPage, 6 * kPage, 0), ENOMEM);
  char* q = mremap(p, 4 * kPage, 16 * kPage, MREMAP_MAYMOVE);
  CHECK(q != MAP_FAILED && q != p && q[3 * kPage] == 3 && q[15 * kPage] == 0 && faults(p) == SIGSEGV);
  char* target = pages(20);
  CHECK(mremap(q, 16 * kPage, 20 * kPage, MREMAP_MAYMOVE | MREMAP_FIXED, target) == target && target[2 * kPage] == 2);
  char* left = pages(2);
  *(volatile char*)left = 2;
  char* taken = mremap(left, 2 * kPage, 2 * kPage, MREMAP_MAYMOVE | 4 /* DONTUNMAP */, NULL);
  CHECK(taken != MAP_FAILED && taken[0] == 2 && *(volatile char*)left == 0);
  FAILS((long)mremap(target + 1, kPage, kPage, 0), EINVAL);
  FAILS((long)mremap(target, kPage, 0, 0), EINVAL);
  FAILS((long)mremap(target, kPage, kPage, MREMAP_FIXED, p), EINVAL);
  FAILS((long)mremap(target, kPage, kPage, 64), EINVAL);
  FAILS((long)mremap(p, kPage, 2 * kPage, MREMAP_MAYMOVE), EFAULT);
  char* shared = mmap(NULL, 2 * kPage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  char* twin = mremap(shared, 0, 2 * kPage, MREMAP_MAYMOVE);
  CHECK(twin != MAP_FAILED && twin != shared);
  shared[100] = 'x';
  CHECK(twin[100] == 'x');
}

/* Several mappings at once, one of them of a file: only Linux 6.17 and later do that. */
static void moved_together(void) {
  char name[] = "memory_calls_XXXXXX", byte = 9;
  const int file = mkstemp(name);
  CHECK(file >= 0 && unlink(name) == 0 && ftruncate(file, kPage) == 0);
  char *from = pages(4), *to = pages(4);
  CHECK(mmap(from, kPage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == from);
  from[0] = 5;
  from[kPage] = 6;
  CHECK(mprotect(from + 2 * kPage, kPage, PROT_NONE) == 0);
  if (mremap(from, 3 * kPage, 3 * kPage, MREMAP_MAYMOVE | MREMAP_FIXED, to) != to) return;
  CHECK(to[0] == 5 && to[kPage] == 6 && faults(to + 2 * kPage) == SIGSEGV && faults(from) == SIGSEGV);
  CHECK(pwrite(file, &byte, 1, 0) == 1 && to[0] == 9);
  to[0] = 4;
  CHECK(pread(file, &byte, 1, 0) == 1 && byte == 4);
  CHECK(munmap(to + kPage, kPage) == 0 && faults(to + kPage) == SIGSEGV && faults(to + 3 * kPage) == 0);
}

static void advised(void) {
  char* p = pages(4);
  memset(p, 7, 4 * kPage);
  CHECK(madvise(p, kPage, MADV_DONTNEED) == 0 && p[0] == 0 && p[kPage] == 7);
  CHECK(madvise(p + kPage, kPage, MADV_FREE) == 0);
  CHECK(madvise(p + 2 * kPage, kPage, MADV_WIPEONFORK) == 0 && madvise(p + 3 * kPage, kPage, MADV_DONTFORK) == 0);
  pid_t child = fork();
  if (child == 0) {
    CHECK(p[2 * kPage] == 0 && faults(p + 3 * kPage) == SIGSEGV);
    _exit(0);
  }
  expect_success(child);
  CHECK(p[2 * kPage] == 7 && p[3 * kPage] == 7);
  CHECK(madvise(p, kPage, MADV_WILLNEED) == 0 && madvise(p, kPage, MADV_SEQUENTIAL) == 0);
  FAILS(madvise(p, kPage, 9999), EINVAL);
  FAILS(madvise(p + 1, kPage, MADV_DONTNEED), EINVAL);
  char* shared = mmap(NULL, 2 * kPage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  shared[0] = shared[kPage] = 9;
  CHECK(madvise(shared, kPage, MADV_REMOVE) == 0 && shared[0] == 0 && shared[kPage] == 9);
}

static void locked(void) {
  char* p = pages(2);
  unsigned char resident[2];
  p[0] = 1;
  CHECK(mincore(p, 2 * kPage, resident) == 0 && (resident[0] & 1) == 1);
  CHECK(munmap(p + kPage, kPage) == 0);
  resident[0] = 7;
  FAILS(mincore(p, 2 * kPage, resident), ENOMEM);
  printf("said of the first before the hole: %d\n", resident[0]);
  CHECK(mlock(p, kPage) == 0 && munlock(p, kPage) == 0 && mlockall(MCL_CURRENT | MCL_FUTURE) == 0 && munlockall() == 0);
  FAILS(mlockall(0), EINVAL);
  CHECK(msync(p, kPage, MS_SYNC) == 0);
  FAILS(msync(p + 1, kPage, MS_SYNC), EINVAL);
}

static void limited(void) {
  struct rlimit limit = {256 << 20, RLIM_INFINITY}, seen;
  CHECK(setrlimit(RLIMIT_AS, &limit) == 0 && getrlimit(RLIMIT_AS, &seen) == 0 && seen.rlim_cur == limit.rlim_cur);
  FAILS((long)mmap(NULL, 512 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), ENOMEM);
  CHECK(malloc(300 << 20) == NULL);
  void* volatile little = malloc(1 << 20);
  CHECK(little != NULL);
  free(little);
  limit.rlim_cur = RLIM_INFINITY;
  CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
}

static void by_process_vm(void) {
  char source[] = "copied by process_vm", target[32] = "";
  struct iovec from = {source, sizeof source}, to = {target, sizeof target};
  CHECK(process_vm_readv(getpid(), &to, 1, &from, 1, 0) == sizeof source && strcmp(source, target) == 0);
  memset(target, 0, sizeof target);
  CHECK(process_vm_writev(getpid(), &from, 1, &to, 1, 0) == sizeof source && strcmp(source, target) == 0);
  int ends[2];
  char byte;
  CHECK(pipe(ends) == 0);
  pid_t child = fork();
  if (child == 0) {
    CHECK(read(ends[0], &byte, 1) == 1 && strcmp(target, "for the child") == 0);
    _exit(0);
  }
  strcpy(source, "for the child");
  CHECK(process_vm_writev(child, &from, 1, &to, 1, 0) == sizeof source && target[0] == 'c');
  CHECK(process_vm_readv(child, &from, 1, &to, 1, 0) == sizeof source && strcmp(source, "for the child") == 0);
  CHECK(write(ends[1], "x", 1) == 1);
  expect_success(child);
}

static void grows_down(void) {
  char* p = mmap(NULL, 16 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN, -1, 0);
  CHECK(p != MAP_FAILED);
  p[0] = 1;
  for (int i = 1; i < 8; i++) p[-i * (long)kPage] = (char)i;
  CHECK(p[-7 * (long)kPage] == 7);
}

int main(void) {
  catch_faults();
  fixed_places();
  moved();
  moved_together();
  advised();
  locked();
  limited();
  by_process_vm();
  grows_down();
  puts("memory");
  return 0;
}
