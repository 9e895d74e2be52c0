/* Mappings that are changed to show more of their file, or another part: mremap, remap_file_pages. Also PROT_GROWSDOWN
   of stacks, and mappings larger than memory. */
#define _GNU_SOURCE
#include "faults.h"

static const size_t kPage = 4096;

/* Returns a nameless file. Page i is full of the i-th letter, from `a`. */
static int file_of(int pages) {
  char path[] = "/tmp/reweave-grow-XXXXXX", content[4096];
  int fd = mkstemp(path);
  CHECK(fd >= 0 && unlink(path) == 0);
  for (int i = 0; i < pages; i++) {
    memset(content, 'a' + i, sizeof content);
    CHECK(write(fd, content, sizeof content) == sizeof content);
  }
  return fd;
}

static char* map(int fd, size_t pages, int flags) {
  char* p = mmap(NULL, pages * kPage, PROT_READ | PROT_WRITE, flags, fd, 0);
  CHECK(p != MAP_FAILED);
  return p;
}

static void shared_file(void) {
  int fd = file_of(4);
  char byte, *p = map(fd, 1, MAP_SHARED);
  p = mremap(p, kPage, 4 * kPage, MREMAP_MAYMOVE);
  CHECK(p != MAP_FAILED && p[0] == 'a' && p[3 * kPage] == 'd');
  p[3 * kPage] = 'D';
  CHECK(pread(fd, &byte, 1, 3 * (off_t)kPage) == 1 && byte == 'D');
  CHECK(pwrite(fd, "B", 1, (off_t)kPage) == 1 && p[kPage] == 'B');
  p = mremap(p, 4 * kPage, 6 * kPage, MREMAP_MAYMOVE);
  CHECK(p != MAP_FAILED && faults_when_written(p + 4 * kPage) == SIGBUS);
  CHECK(ftruncate(fd, 5 * (off_t)kPage) == 0 && p[4 * kPage] == 0 && faults_when_written(p + 5 * kPage) == SIGBUS);
  close(fd);
}

static void private_file(void) {
  int fd = file_of(4);
  char* p = map(fd, 2, MAP_PRIVATE);
  p[1] = 'X';
  p = mremap(p, 2 * kPage, 6 * kPage, MREMAP_MAYMOVE);
  CHECK(p != MAP_FAILED && p[1] == 'X' && p[3 * kPage] == 'd' && faults_when_written(p + 4 * kPage) == SIGBUS);
  CHECK(pwrite(fd, "C", 1, 2 * (off_t)kPage) == 1 && p[2 * kPage] == 'C');
  p = mremap(p, 6 * kPage, 3 * kPage, 0);
  CHECK(p != MAP_FAILED && p[2 * kPage] == 'C');
  close(fd);
}

static void other_pages(void) {
  int fd = file_of(4);
  char* p = map(fd, 4, MAP_SHARED);
  CHECK(remap_file_pages(p, kPage, 0, 3, 0) == 0 && p[0] == 'd' && p[kPage] == 'b');
  p[0] = 'D';
  CHECK(p[3 * kPage] == 'D');
  CHECK(pwrite(fd, "!", 1, 3 * (off_t)kPage + 1) == 1 && p[1] == '!');
  FAILS(remap_file_pages(p, kPage, PROT_READ, 3, 0), EINVAL);
  char* own = mmap(NULL, kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  FAILS(remap_file_pages(own, kPage, 0, 0, 0), EINVAL);
  close(fd);
}

static void downwards(void) {
  char* p = mmap(NULL, 4 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN, -1, 0);
  CHECK(p != MAP_FAILED && mprotect(p + kPage, kPage, PROT_READ | PROT_GROWSDOWN) == 0);
  CHECK(faults_when_written(p) == SIGSEGV && faults_when_written(p + 2 * kPage) == 0);
  FAILS(mprotect(p, kPage, PROT_READ | PROT_GROWSDOWN | PROT_GROWSUP), EINVAL);
  char* other = mmap(NULL, kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  FAILS(mprotect(other, kPage, PROT_READ | PROT_GROWSDOWN), EINVAL);
  char here;
  char* stack = (char*)((uintptr_t)&here & ~(kPage - 1));
  CHECK(mprotect(stack, kPage, PROT_READ | PROT_WRITE | PROT_GROWSDOWN) == 0);
}

static void huge(void) {
  const size_t bytes = (size_t)1 << 40;
  char* p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  CHECK(p != MAP_FAILED);
  for (int i = 12; i < 40; i++) p[(size_t)1 << i] = (char)i;
  for (int i = 12; i < 40; i++) CHECK(p[(size_t)1 << i] == (char)i);
  CHECK(munmap(p, bytes) == 0);
}

int main(void) {
  catch_faults();
  shared_file();
  private_file();
  other_pages();
  downwards();
  huge();
  puts("grown");
  return 0;
}
