/* mremap of memory that is one mapping for the program but several for the kernel, because a part is locked, advised
 * or protected differently. Only MREMAP_FIXED moves all of them, and only in newer kernels. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { kPage = 4096, kPages = 16 };

static void lock(char* memory) { mlock(memory + kPage, kPage); }
static void exclude(char* memory) { madvise(memory + kPage, kPage, MADV_DONTFORK); }
static void protect(char* memory) { mprotect(memory + kPage, kPage, PROT_READ); }
static void nothing(char* memory) { (void)memory; }

static void move(const char* what, void (*part)(char*), int flags, size_t pages) {
  const size_t bytes = kPages * kPage;
  char* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char* target = mmap(NULL, 2 * bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char* behind = mmap(memory + bytes, kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(memory, 1, bytes);
  part(memory);
  char* moved = mremap(memory, bytes, pages * kPage, flags, target);
  printf("%s, flags %d, %zu pages: ", what, flags, pages);
  if (moved == MAP_FAILED)
    printf("%s, %d\n", strerrorname_np(errno), memory[bytes - 1]);
  else
    printf("moved, %d, %d\n", moved[0], moved[kPage]);
  if (moved != MAP_FAILED && moved != target) munmap(moved, pages * kPage);
  munmap(memory, bytes);
  munmap(target, 2 * bytes);
  munmap(behind, kPage);
}

int main(void) {
  const struct {
    const char* what;
    void (*part)(char*);
  } parts[] = {{"nothing", nothing}, {"locked", lock}, {"advised", exclude}, {"protected", protect}};
  const struct {
    int flags;
    size_t pages;
  } moves[] = {{MREMAP_MAYMOVE, kPages},
               {MREMAP_MAYMOVE, 2 * kPages},
               {MREMAP_MAYMOVE, kPages / 2},
               {MREMAP_MAYMOVE | MREMAP_DONTUNMAP, kPages},
               {MREMAP_MAYMOVE | MREMAP_FIXED, kPages},
               {MREMAP_MAYMOVE | MREMAP_FIXED, 2 * kPages},
               {MREMAP_MAYMOVE | MREMAP_FIXED, kPages / 2},
               {MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, kPages}};
  for (unsigned p = 0; p < sizeof parts / sizeof *parts; p++)
    for (unsigned m = 0; m < sizeof moves / sizeof *moves; m++)
      move(parts[p].what, parts[p].part, moves[m].flags, moves[m].pages);
  return 0;
}
