/* What a mapping shows at the end of its file while the end moves: bytes after the old end are zero when the file
 * grows, and parts unmapped in the middle stay unmapped. */
#define _GNU_SOURCE
#include "faults.h"

enum { kPage = 4096 };

int main(void) {
  char name[] = "/tmp/reweave-ends-XXXXXX";
  int file = mkstemp(name);
  CHECK(file >= 0 && unlink(name) == 0);
  catch_faults();
  char* map = mmap(NULL, 3 * kPage, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  CHECK(map != MAP_FAILED && ftruncate(file, 100) == 0);
  map[99] = 'x';
  map[100] = 'y';
  CHECK(ftruncate(file, 5000) == 0);
  printf("%c, %d behind the old end\n", map[99], map[100]);
  CHECK(pwrite(file, "z", 1, 6000) == 1);
  printf("%d and %c\n", map[5500], map[6000]);
  CHECK(ftruncate(file, 50) == 0 && munmap(map + kPage, kPage) == 0);
  CHECK(faults(map + kPage) == SIGSEGV && faults(map + 2 * kPage) == SIGBUS);
  CHECK(ftruncate(file, 3 * kPage) == 0);
  CHECK(faults(map) == 0 && faults(map + kPage) == SIGSEGV && faults(map + 2 * kPage) == 0);
  puts("the hole is one still");
  return 0;
}
