/* Locked pages refuse some advice; more than the limit cannot be locked. A replay locks nothing but gives the same
 * results. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static void show(const char* what, int result) {
  printf("%s: %s\n", what, result == 0 ? "done" : strerrorname_np(errno));
}

int main(void) {
  const size_t page = 4096;
  char* memory = mmap(NULL, 16 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(memory, 1, 16 * page);
  show("lock", mlock(memory + page, 2 * page));
  show("throw away locked pages", madvise(memory + page, page, MADV_DONTNEED));
  show("throw away lazily", madvise(memory + page, page, MADV_FREE));
  show("throw away others", madvise(memory + 8 * page, page, MADV_DONTNEED));
  printf("still there: %d, gone: %d\n", memory[page], memory[8 * page]);
  show("unlock", munlock(memory + page, 2 * page));
  show("throw away", madvise(memory + page, page, MADV_DONTNEED));
  printf("gone: %d\n", memory[page]);
  show("lock a hole", mlock(memory + 64 * page, 1ul << 40));
  if (geteuid() == 0) show("become nobody", setresuid(65534, 65534, 65534));
  struct rlimit limit = {page, page};
  show("limit", setrlimit(RLIMIT_MEMLOCK, &limit));
  show("lock one page", mlock(memory, page));
  show("lock too many", mlock(memory, 4 * page));
  void* locked = mmap(NULL, 8 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_LOCKED, -1, 0);
  show("map locked", locked == MAP_FAILED ? -1 : 0);
  show("grow what is locked", mremap(memory, page, 4 * page, 0) == MAP_FAILED ? -1 : 0);
  show("unlock all", munlockall());
  show("lock another page", mlock(memory + 4 * page, page));
  show("unmap", munmap(memory + 8 * page, page));
  return 0;
}
