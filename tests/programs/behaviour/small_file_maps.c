/* Private mappings of small files that no longer exist when the run ends: bytes, holes, ends, discarded pages.
 */
#define _GNU_SOURCE
#include "faults.h"

static const long kPage = 4096;

static char name[] = "/tmp/reweave-map-XXXXXX";

/* Opens the file only for reading, as git opens its objects. */
static char* map(long bytes, long offset, int prot) {
  int fd = open(name, O_RDONLY);
  char* p = mmap(NULL, (size_t)bytes, prot, MAP_PRIVATE, fd, offset);
  CHECK(fd >= 0 && p != MAP_FAILED && close(fd) == 0);
  return p;
}

static void make(int turn) {
  int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
  char text[64];
  int bytes = snprintf(text, sizeof text, "object %d", turn);
  CHECK(fd >= 0 && pwrite(fd, text, (size_t)bytes, 0) == bytes && pwrite(fd, "end", 3, 5 * kPage) == 3 &&
        close(fd) == 0);
}

static void many_one_after_the_other(void) {
  for (int turn = 0; turn < 50; turn++) {
    make(turn);
    char* p = map(6 * kPage, 0, PROT_READ);
    CHECK(unlink(name) == 0);
    CHECK(atoi(p + 7) == turn && p[2 * kPage] == 0 && strcmp(p + 5 * kPage, "end") == 0);
    CHECK(munmap(p, (size_t)(6 * kPage)) == 0);
  }
}

static void from_an_offset(void) {
  char* p = map(3 * kPage, 5 * kPage, PROT_READ);
  CHECK(strcmp(p, "end") == 0 && p[100] == 0 && faults(p + kPage) == SIGBUS);
  CHECK(munmap(p, (size_t)(3 * kPage)) == 0);
}

static void shown_by_growing(void) {
  char* p = map(kPage, 0, PROT_READ);
  CHECK(strcmp(p, "object 7") == 0);
  p = mremap(p, (size_t)kPage, (size_t)(6 * kPage), MREMAP_MAYMOVE);
  CHECK(p != MAP_FAILED && strcmp(p, "object 7") == 0 && strcmp(p + 5 * kPage, "end") == 0);
  CHECK(munmap(p, (size_t)(6 * kPage)) == 0);
}

static void changed_and_thrown_away(void) {
  char* p = map(6 * kPage, 0, PROT_READ | PROT_WRITE);
  p[0] = 'X';
  CHECK(p[0] == 'X' && madvise(p, (size_t)kPage, MADV_DONTNEED) == 0 && p[0] == 'o');
  p[1] = 'Y';
  char* moved = mremap(p, (size_t)(6 * kPage), (size_t)(8 * kPage), MREMAP_MAYMOVE);
  CHECK(moved != MAP_FAILED && memcmp(moved, "oYject", 6) == 0 && faults(moved + 7 * kPage) == SIGBUS);
  CHECK(mprotect(moved, (size_t)kPage, PROT_NONE) == 0 && faults(moved) == SIGSEGV);
  pid_t child = fork();
  if (child == 0) _exit(strcmp(moved + 5 * kPage, "end"));
  int status;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  CHECK(munmap(moved, (size_t)(8 * kPage)) == 0);
}

int main(void) {
  catch_faults();
  CHECK(mkstemp(name) >= 0);
  many_one_after_the_other();
  make(7);
  from_an_offset();
  shown_by_growing();
  changed_and_thrown_away();
  CHECK(unlink(name) == 0);
  puts("done");
  return 0;
}
