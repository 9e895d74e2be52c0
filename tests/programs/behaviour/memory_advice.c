/* Advice on memory: MADV_FREE works only on private memory without a file, and keeps the contents for now. Guarded
 * pages fault until they are released, and wrong advice always fails in the same way. */
#define _GNU_SOURCE
#include "faults.h"

enum { kPage = 4096, kGuard = 102, kNoGuard = 103 };

static void* map(int flags, int file) { return mmap(NULL, 4 * kPage, PROT_READ | PROT_WRITE, flags, file, 0); }

static void freed(int file) {
  char *own = map(MAP_PRIVATE | MAP_ANONYMOUS, -1), *shared = map(MAP_SHARED | MAP_ANONYMOUS, -1);
  own[0] = shared[0] = 'f';
  CHECK(madvise(own, kPage, MADV_FREE) == 0 && own[0] == 'f');
  FAILS(madvise(shared, kPage, MADV_FREE), EINVAL);
  FAILS(madvise(map(MAP_PRIVATE, file), kPage, MADV_FREE), EINVAL);
  FAILS(madvise(map(MAP_SHARED, file), kPage, MADV_FREE), EINVAL);
}

static void guarded(void) {
  char* own = map(MAP_PRIVATE | MAP_ANONYMOUS, -1);
  memset(own, 'g', 4 * kPage);
  if (madvise(own + kPage, kPage, kGuard) != 0) {
    CHECK(errno == EINVAL);  // an older kernel
    return;
  }
  CHECK(faults_when_written(own + kPage) == SIGSEGV && own[0] == 'g' && own[2 * kPage] == 'g');
  CHECK(madvise(own + kPage, kPage, kNoGuard) == 0 && own[kPage] == 0 && faults_when_written(own + kPage) == 0);
}

static void with_holes(void) {
  char* own = map(MAP_PRIVATE | MAP_ANONYMOUS, -1);
  memset(own, 'h', 4 * kPage);
  CHECK(munmap(own + kPage, kPage) == 0);
  FAILS(madvise(own, 4 * kPage, MADV_DONTNEED), ENOMEM);
  CHECK(own[0] == 0 && own[2 * kPage] == 0 && own[3 * kPage] == 0);
  FAILS(madvise(own + 1, kPage, MADV_NORMAL), EINVAL);
  FAILS(madvise(own, kPage, 77), EINVAL);
}

int main(void) {
  char name[] = "/tmp/reweave-advice-XXXXXX";
  int file = mkstemp(name);
  CHECK(file >= 0 && unlink(name) == 0 && ftruncate(file, 4 * kPage) == 0);
  catch_faults();
  freed(file);
  guarded();
  with_holes();
  puts("advised");
  return 0;
}
