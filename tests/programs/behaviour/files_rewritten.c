/* Files that were mapped read-only, and are later written in another way: through another descriptor, through another
 * mapping, by another process; and truncated and extended. */
#define _GNU_SOURCE
#include "check.h"

enum { kBytes = 5 * 4096 };
static char path[] = "/tmp/rewritten-XXXXXX";

static char* map(int prot, int flags, int open_flags) {
  int fd = open(path, open_flags);
  char* memory = mmap(NULL, kBytes, prot, flags, fd, 0);
  CHECK(fd >= 0 && memory != MAP_FAILED && close(fd) == 0);
  return memory;
}

static void write_at(off_t offset, const char* text) {
  int fd = open(path, O_WRONLY);
  CHECK(fd >= 0 && pwrite(fd, text, strlen(text), offset) == (ssize_t)strlen(text) && close(fd) == 0);
}

int main(void) {
  char page[4096];
  int fd = mkstemp(path);
  CHECK(fd >= 0);
  for (int i = 0; i < 5; i++) {
    memset(page, 'a' + i, sizeof page);
    CHECK(write(fd, page, sizeof page) == sizeof page);
  }
  CHECK(close(fd) == 0);
  char* shared = map(PROT_READ, MAP_SHARED, O_RDONLY);
  char* private = map(PROT_READ, MAP_PRIVATE, O_RDONLY);
  char* copied = map(PROT_READ | PROT_WRITE, MAP_PRIVATE, O_RDONLY);
  copied[4096] = '!';
  CHECK(shared[0] == 'a' && private[4096] == 'b' && copied[4097] == 'b');

  write_at(10, "NEW");
  CHECK(memcmp(shared + 10, "NEW", 3) == 0 && memcmp(private + 10, "NEW", 3) == 0 &&
        memcmp(copied + 10, "NEW", 3) == 0);
  write_at(4096, "SECOND");
  CHECK(shared[4096] == 'S' && private[4096] == 'S' && copied[4096] == '!' && copied[4097] == 'b');

  char* written = map(PROT_READ | PROT_WRITE, MAP_SHARED, O_RDWR);
  written[2 * 4096] = '#';
  CHECK(shared[2 * 4096] == '#' && private[2 * 4096] == '#');

  pid_t child = fork();
  if (child == 0) {
    write_at(3 * 4096, "CHILD");
    _exit(0);
  }
  expect_success(child);
  CHECK(memcmp(shared + 3 * 4096, "CHILD", 5) == 0 && private[3 * 4096] == 'C');

  CHECK(truncate(path, 4 * 4096) == 0 && truncate(path, kBytes) == 0);
  CHECK(shared[4 * 4096] == 0 && private[4 * 4096] == 0);
  printf("%.5s %.6s %c\n", private + 3 * 4096, shared + 4096, copied[4096]);
  CHECK(unlink(path) == 0);
  return 0;
}
