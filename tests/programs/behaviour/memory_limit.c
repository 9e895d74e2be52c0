/* RLIMIT_AS and the limit on descriptors: calls beyond them fail as they should, and work again after a release. */
#include <sys/resource.h>

#include "check.h"

int main(void) {
  struct rlimit limit = {256u << 20, RLIM_INFINITY};
  CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
  void* blocks[64];
  int got = 0;
  while (got < 64) {
    blocks[got] = mmap(NULL, 16 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (blocks[got] == MAP_FAILED) break;
    memset(blocks[got], got, 4096);
    got++;
  }
  CHECK(got > 4 && got < 17 && errno == ENOMEM);
  CHECK(malloc(64 << 20) == NULL);
  CHECK(munmap(blocks[0], 16 << 20) == 0);
  void* more = mmap(NULL, 8 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(more != MAP_FAILED);
  struct rlimit files = {20, 20};
  CHECK(setrlimit(RLIMIT_NOFILE, &files) == 0);
  int last = -1, fd;
  while ((fd = open("/dev/null", O_RDONLY)) >= 0) last = fd;
  CHECK(last == 19 && errno == EMFILE);
  int pipes[2];
  FAILS(pipe(pipes), EMFILE);
  CHECK(close(19) == 0 && open("/dev/null", O_RDONLY) == 19);
  printf("%d blocks, last descriptor %d\n", got, last);
  return 0;
}
