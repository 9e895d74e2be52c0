/* Private mappings of a small data file that this run does not change: by the hundred, by parent and child in turn,
 * with a low descriptor limit, and past the end of the file, both at once and by growing.
 */
#define _GNU_SOURCE
#include <sys/resource.h>

#include "faults.h"

enum { kMappings = 300 };

static const size_t kPage = 4096;

static const char kName[] = "/var/lib/dpkg/info/base-files.list"; /* Debian's list of the files of its basic package */

static char contents[4096];

static char* map(size_t bytes) {
  int fd = open(kName, O_RDONLY);
  CHECK(fd >= 0);
  char* p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
  CHECK(p != MAP_FAILED && close(fd) == 0);
  return p;
}

static void map_many(char** mapped) {
  for (int i = 0; i < kMappings; i++) mapped[i] = map(kPage);
}

/* Each mapping shows the file, and a write to one does not show in another. */
static void check_many(char** mapped, char mark) {
  for (int i = 0; i < kMappings; i++) {
    CHECK(memcmp(mapped[i], contents, kPage) == 0);
    memset(mapped[i], mark, kPage);
  }
  for (int i = 0; i < kMappings; i++) {
    CHECK(mapped[i][0] == mark && madvise(mapped[i], kPage, MADV_DONTNEED) == 0);
    CHECK(memcmp(mapped[i], contents, kPage) == 0);
  }
}

static void in_two_processes(void) {
  static char *ours[kMappings], *own[kMappings];
  map_many(ours);
  pid_t child = fork();
  map_many(own);
  check_many(ours, child == 0 ? 'c' : 'p');
  check_many(own, child == 0 ? 'C' : 'P');
  if (child == 0) _exit(0);
  int status;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  for (int i = 0; i < kMappings; i++) CHECK(munmap(ours[i], kPage) == 0 && munmap(own[i], kPage) == 0);
}

static void behind_the_end(void) {
  char* p = map(3 * kPage);
  CHECK(memcmp(p, contents, kPage) == 0 && faults(p + kPage) == SIGBUS && faults(p + 2 * kPage) == SIGBUS);
  CHECK(munmap(p, 3 * kPage) == 0);
  p = map(kPage);
  p[0] = '!';
  for (size_t pages = 1; pages < 5; pages++) {
    p = mremap(p, pages * kPage, (pages + 1) * kPage, MREMAP_MAYMOVE);
    CHECK(p != MAP_FAILED && p[0] == '!' && memcmp(p + 1, contents + 1, kPage - 1) == 0);
    CHECK(faults(p + kPage) == SIGBUS && faults(p + pages * kPage) == SIGBUS);
  }
  p = mremap(p, 5 * kPage, kPage, 0);
  CHECK(p[0] == '!' && faults(p + kPage) == SIGSEGV && munmap(p, kPage) == 0);
}

int main(void) {
  int fd = open(kName, O_RDONLY);
  ssize_t bytes = read(fd, contents, sizeof contents);
  CHECK(bytes > 0 && bytes < (ssize_t)kPage && close(fd) == 0);
  struct rlimit few = {10, 10};
  CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
  catch_faults();
  in_two_processes();
  behind_the_end();
  puts("done");
  return 0;
}
