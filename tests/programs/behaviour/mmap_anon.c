/* Anonymous mappings: fixed places, mremap, mprotect, madvise, partial unmapping. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kPage = 4096 };

int main(void) {
  char* a = mmap(NULL, 4 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  strcpy(a, "kept");
  char* b = mremap(a, 4 * kPage, 64 * kPage, MREMAP_MAYMOVE);
  printf("first %p grown to %p '%s'\n", (void*)a, (void*)b, b);
  b[60 * kPage] = 1;
  madvise(b + 60 * kPage, kPage, MADV_DONTNEED);
  printf("after MADV_DONTNEED %d\n", b[60 * kPage]);
  printf("protect %d\n", mprotect(b + kPage, kPage, PROT_NONE));
  printf("unmap the middle %d\n", munmap(b + 8 * kPage, 8 * kPage));
  char* c = mmap(b + 8 * kPage, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  printf("fixed in the hole: %d\n", c == b + 8 * kPage);
  char* d = mmap(c, kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  printf("hint that is taken: %p\n", (void*)d);
  b = mremap(b, 8 * kPage, kPage, 0);
  printf("shrunk '%s'\n", b);
  unsigned char resident[1];
  printf("mincore %d, page size %ld\n", mincore(b, kPage, resident), sysconf(_SC_PAGESIZE));
  for (int i = 0; i < 5; i++)
    printf("%p\n", mmap(NULL, (size_t)(i + 1) * kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  return 0;
}
