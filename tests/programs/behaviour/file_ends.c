/* What a mapping shows at the end of its file while that moves: bytes behind the end are zero when the file grows, and
 * what was unmapped in the middle stays so. */
#define _GNU_SOURCE
#include <setjmp.h>

#include "check.h"

enum { kPage = 4096 };

static sigjmp_buf resume;

static void on_fault(int number, siginfo_t* info, void* context) {
  (void)info, (void)context;
  siglongjmp(resume, number);
}

/* 0, or the signal that reading the byte causes. */
static int fault_at(volatile const char* byte) {
  int number = sigsetjmp(resume, 1);
  if (number == 0) (void)*byte;
  return number;
}

int main(void) {
  char name[] = "/tmp/reweave-ends-XXXXXX";
  int file = mkstemp(name);
  CHECK(file >= 0 && unlink(name) == 0);
  on_signal(SIGSEGV, on_fault, 0);
  on_signal(SIGBUS, on_fault, 0);
  char* map = mmap(NULL, 3 * kPage, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  CHECK(map != MAP_FAILED && ftruncate(file, 100) == 0);
  map[99] = 'x';
  map[100] = 'y';
  CHECK(ftruncate(file, 5000) == 0);
  printf("%c, %d behind the old end\n", map[99], map[100]);
  CHECK(pwrite(file, "z", 1, 6000) == 1);
  printf("%d and %c\n", map[5500], map[6000]);
  CHECK(ftruncate(file, 50) == 0 && munmap(map + kPage, kPage) == 0);
  CHECK(fault_at(map + kPage) == SIGSEGV && fault_at(map + 2 * kPage) == SIGBUS);
  CHECK(ftruncate(file, 3 * kPage) == 0);
  CHECK(fault_at(map) == 0 && fault_at(map + kPage) == SIGSEGV && fault_at(map + 2 * kPage) == 0);
  puts("the hole is one still");
  return 0;
}
