/* Impossible sizes and addresses of mappings fail as in the kernel; huge pages and large offsets work. */
#define _GNU_SOURCE
#include "check.h"

enum { kPage = 4096 };

#define IS_FAILED(expression, error) CHECK((expression) == MAP_FAILED && errno == (error))

static void* map(void* at, size_t bytes, int flags) {
  return mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
}

static void* move(void* from, size_t old_bytes, size_t new_bytes, int flags, void* to) {
  return (void*)syscall(SYS_mremap, from, old_bytes, new_bytes, flags, to);
}

static void sizes_and_places(void) {
  void* above = (void*)(1UL << 47);
  IS_FAILED(map(NULL, ~0UL, 0), ENOMEM);
  IS_FAILED(map(above, kPage, MAP_FIXED), ENOMEM);
  FAILS(munmap(above, kPage), EINVAL);
  char* block = map(NULL, 4 * kPage, 0);
  CHECK(block != MAP_FAILED);
  FAILS(munmap(block, ~0UL), EINVAL);
  FAILS(madvise(block, ~0UL, MADV_DONTNEED), EINVAL);
  IS_FAILED(move(block, kPage, 1UL << 50, MREMAP_MAYMOVE, NULL), EINVAL);
  IS_FAILED(move(block, kPage, kPage, MREMAP_MAYMOVE | MREMAP_FIXED, above), EINVAL);
}

/* The file comes first. */
static void no_file(void) {
  IS_FAILED(mmap(NULL, kPage, PROT_READ, 0, -1, 0), EBADF);
  IS_FAILED(mmap(NULL, 0, PROT_READ, MAP_PRIVATE, -1, 0), EBADF);
  IS_FAILED(mmap((void*)1, kPage, PROT_READ, MAP_PRIVATE | MAP_FIXED, -1, 0), EBADF);
  IS_FAILED(mmap(NULL, kPage, PROT_READ, MAP_PRIVATE, -1, 1), EINVAL);
  IS_FAILED(mmap(NULL, kPage, PROT_READ, MAP_ANONYMOUS, -1, 0), EINVAL);
}

/* A range that mremap shrinks may contain several mappings and holes. A range that grows may not. */
static void over_holes(void) {
  unsigned char there[8];
  char* block = map(NULL, 8 * kPage, 0);
  block[3 * kPage] = 'k';
  CHECK(munmap(block + 2 * kPage, kPage) == 0 && mprotect(block + 3 * kPage, kPage, PROT_READ) == 0);
  CHECK(move(block, 6 * kPage, 4 * kPage, 0, NULL) == block && block[3 * kPage] == 'k');
  FAILS(mincore(block + 2 * kPage, kPage, there), ENOMEM);
  FAILS(mincore(block + 4 * kPage, kPage, there), ENOMEM);
  CHECK(mincore(block + 6 * kPage, 2 * kPage, there) == 0);
  CHECK(move(block, 8 * kPage, 8 * kPage, 0, NULL) == block);
  IS_FAILED(move(block, 4 * kPage, 5 * kPage, 0, NULL), EFAULT);
  CHECK(map(block + 2 * kPage, kPage, MAP_FIXED_NOREPLACE) == block + 2 * kPage);
  char* place = map(NULL, 4 * kPage, 0);
  if (move(block, 4 * kPage, 4 * kPage, MREMAP_MAYMOVE | MREMAP_FIXED | 4 /* DONTUNMAP */, place) == MAP_FAILED) return;
  CHECK(place[3 * kPage] == 'k' && block[3 * kPage] == 0); /* since Linux 6.17 */
}

/* Without MREMAP_FIXED, the requested place is only a hint. */
static void moved_and_left(void) {
  const int flags = MREMAP_MAYMOVE | 4 /* MREMAP_DONTUNMAP */;
  char *block = map(NULL, kPage, 0), *wish = map(NULL, 2 * kPage, 0);
  CHECK(munmap(wish, 2 * kPage) == 0);
  IS_FAILED(move(block, kPage, kPage, flags, wish + 1), EINVAL);
  block[0] = 'm';
  char* moved = move(block, kPage, kPage, flags, wish);
  CHECK(moved == wish && moved[0] == 'm' && block[0] == 0);
}

/* Whether there are huge pages or not, such requests are not invalid. */
static void huge_pages(void) {
  const size_t huge = 2 << 20;
  char* now = map(NULL, 1, MAP_HUGETLB);
  CHECK(now != MAP_FAILED || errno == ENOMEM);
  char* later = map(NULL, huge, MAP_HUGETLB | MAP_NORESERVE);
  CHECK(later != MAP_FAILED || errno == ENOMEM);
  if (later != MAP_FAILED) CHECK((uintptr_t)later % huge == 0 && munmap(later, huge) == 0);
  const int kilobytes_8 = 13 << 26;
  IS_FAILED(map(NULL, huge, MAP_HUGETLB | kilobytes_8), EINVAL);
}

static void far_offsets(void) {
  char name[] = "/tmp/reweave-far-XXXXXX";
  int file = mkstemp(name);
  CHECK(file >= 0 && unlink(name) == 0 && ftruncate(file, kPage) == 0);
  CHECK(mmap(NULL, kPage, PROT_READ | PROT_WRITE, MAP_SHARED, file, 1L << 40) != MAP_FAILED);
  CHECK(mmap(NULL, kPage, PROT_READ | PROT_WRITE, MAP_SHARED, file, 1L << 62) != MAP_FAILED);
}

int main(void) {
  sizes_and_places();
  no_file();
  over_holes();
  moved_and_left();
  huge_pages();
  far_offsets();
  puts("as the kernel has it");
  return 0;
}
