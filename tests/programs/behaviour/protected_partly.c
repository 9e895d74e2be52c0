/* mprotect over several mappings changes them one after the other. Mappings before a hole, or before a mapping that may
 * not be changed, get their new protection although the call fails. */
#define _GNU_SOURCE
#include "faults.h"

enum { kPage = 4096 };

static int can_write(char* byte) { return faults_when_written(byte) == 0; }

static char* map(char* at, int prot, int flags, int file) {
  char* start = mmap(at, kPage, prot, flags | (at != NULL ? MAP_FIXED : 0), file, 0);
  CHECK(start != MAP_FAILED);
  return start;
}

int main(void) {
  char name[] = "/tmp/reweave-partly-XXXXXX";
  int file = mkstemp(name);
  CHECK(file >= 0 && ftruncate(file, kPage) == 0);
  int read_only = open(name, O_RDONLY);
  CHECK(read_only >= 0 && unlink(name) == 0);
  catch_faults();
  char* block = mmap(NULL, 6 * kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  map(block + kPage, PROT_READ, MAP_SHARED, file);
  map(block + 2 * kPage, PROT_READ, MAP_SHARED, read_only);
  FAILS(mprotect(block, 4 * kPage, PROT_READ | PROT_WRITE), EACCES);
  printf("%d%d%d%d\n", can_write(block), can_write(block + kPage), can_write(block + 2 * kPage),
         can_write(block + 3 * kPage));
  CHECK(munmap(block + 2 * kPage, kPage) == 0);
  FAILS(mprotect(block, 4 * kPage, PROT_READ), ENOMEM);
  printf("%d%d%d\n", can_write(block), can_write(block + kPage), can_write(block + 3 * kPage));
  CHECK(mprotect(block + 3 * kPage, 2 * kPage, PROT_READ | PROT_WRITE) == 0);
  printf("%d%d%d\n", can_write(block + 3 * kPage), can_write(block + 4 * kPage), can_write(block + 5 * kPage));
  return 0;
}
