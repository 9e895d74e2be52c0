/* The effects of fallocate on a mapped file: allocation changes nothing, however large the file is; ranges are zeroed,
 * removed or inserted, and private mappings may then lose what was written to them. */
#define _GNU_SOURCE
#include <linux/falloc.h>
#include <sys/sendfile.h>
#include "check.h"

enum { kPage = 4096 };
static char name[] = "/tmp/reweave-room-XXXXXX";
static char* shared;
static char* own;

static void show(const char* what) {
  printf("%s:", what);
  for (int i = 0; i < 4; i++) printf(" %02x/%02x", (unsigned char)shared[i * kPage], (unsigned char)own[i * kPage]);
  puts("");
}

static void fill(int fd) {
  char page[kPage];
  CHECK(ftruncate(fd, 0) == 0);
  for (int i = 0; i < 6; i++) {
    memset(page, 'a' + i, kPage);
    CHECK(pwrite(fd, page, kPage, i * kPage) == kPage);
  }
}

/* Prints the error if the file system does not support this kind. */
static void change(int fd, int how, off_t offset, off_t bytes, const char* what) {
  fill(fd);
  own[0] = 'Y';
  own[kPage] = 'Z';
  if (fallocate(fd, how, offset, bytes) == 0)
    show(what);
  else
    printf("%s: %d\n", what, errno);
}

static void copies(int fd) {
  off_t to = kPage, from = 0;
  fill(fd);
  CHECK(pwrite(fd, "copied", 6, 0) == 6);
  CHECK(copy_file_range(fd, &from, fd, &to, 6, 0) == 6 && to == kPage + 6);
  from = 0;
  CHECK(lseek(fd, 2 * kPage, SEEK_SET) == 2 * kPage && sendfile(fd, fd, &from, 6) == 6);
  int ends[2];
  CHECK(pipe(ends) == 0 && write(ends[1], "spliced", 7) == 7);
  to = 3 * kPage;
  CHECK(splice(ends[0], NULL, fd, &to, 4, 0) == 4 && to == 3 * kPage + 4);
  CHECK(splice(ends[0], NULL, fd, NULL, 3, 0) == 3);
  printf("%.6s %.6s %.9s %.4s\n", shared + kPage, shared + 2 * kPage, shared + 2 * kPage, shared + 3 * kPage);
}

static void large(int fd) {
  CHECK(ftruncate(fd, 8L << 40) == 0 && posix_fallocate(fd, 0, 1 << 20) == 0);
  CHECK(pwrite(fd, "far", 3, 7L << 40) == 3);
  show("room in a large file");
  CHECK(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 2 * kPage, 8L << 40) == 0);
  show("a large hole");
  CHECK(ftruncate(fd, 6 * kPage) == 0);
}

int main(void) {
  const int fd = mkstemp(name);
  CHECK(fd >= 0 && unlink(name) == 0);
  fill(fd);
  shared = mmap(NULL, 6 * kPage, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  own = mmap(NULL, 6 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
  CHECK(shared != MAP_FAILED && own != MAP_FAILED);
  change(fd, 0, 0, 8 * kPage, "room");
  change(fd, FALLOC_FL_KEEP_SIZE, 0, 8 * kPage, "room behind");
  change(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 1, 2 * kPage, "a hole");
  change(fd, FALLOC_FL_ZERO_RANGE, kPage, 7 * kPage, "zeros");
  change(fd, FALLOC_FL_COLLAPSE_RANGE, kPage, kPage, "taken out");
  change(fd, FALLOC_FL_INSERT_RANGE, kPage, kPage, "put in");
  copies(fd);
  large(fd);
  return 0;
}
