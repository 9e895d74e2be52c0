/* Unmaps and protects ranges that include the runtime's own memory: this is refused, and the program continues. */
#include "check.h"

int main(void) {
  const size_t all = (size_t)0x7ffffffff000;
  FAILS(munmap(NULL, all), ENOMEM);
  FAILS(munmap((void*)0x500000000000, 0x200000000000), ENOMEM);
  FAILS(mprotect((void*)0x500000000000, 0x200000000000, PROT_NONE), ENOMEM);
  CHECK(mmap((void*)0x600000000000, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED);
  char* mine = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(mine != MAP_FAILED);
  memset(mine, 7, 1 << 20);
  CHECK(munmap(mine, 1 << 20) == 0);
  printf("still here\n");
  return 0;
}
