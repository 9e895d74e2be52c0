// Tens of thousands of mappings: their number does not slow down the search for a place, the highest sufficient gap is
// used, also one that was unmapped, and the program gets an error when the kernel allows no more.
#define _GNU_SOURCE
#include <sys/resource.h>

#include "check.h"

enum { kPage = 4096, kSoMany = 30000 };

static char* places[70000];

static char* map(int fd, size_t bytes) {
  char* place = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
  return place == MAP_FAILED ? NULL : place;
}

static double seconds(void) {
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  return (double)used.ru_utime.tv_sec + (double)used.ru_utime.tv_usec / 1e6;
}

int main(void) {
  const int fd = memfd_create("mapped", 0);  // empty: mappings are entirely past its end

  int count = 0;
  for (; count < kSoMany; count++) CHECK((places[count] = map(fd, kPage)) != NULL);
  printf("%d mappings\n", count);

  // Two gaps far above, of one page and of two. A mapping goes to the highest gap in which it fits.
  CHECK(munmap(places[100], kPage) == 0);
  CHECK(places[200] == places[201] + kPage && munmap(places[201], 2 * kPage) == 0);
  CHECK(map(fd, 2 * kPage) == places[201]);
  CHECK(map(fd, kPage) == places[100]);
  CHECK(map(fd, kPage) < places[count - 1]);

  while ((places[count] = map(fd, kPage)) != NULL) count++;
  CHECK(errno == ENOMEM && count > 60000 && count < 65536);
  CHECK(munmap(places[0], kPage) == 0 && map(fd, kPage) == places[0]);
  printf("as many as there can be\n");
  CHECK(seconds() < 10);
  return 0;
}
