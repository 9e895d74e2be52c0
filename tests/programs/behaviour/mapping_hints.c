/* Where the kernel puts a mapping without an address, or with one that is not free: for any kind of mapping, it uses
 * the hint if there is room there, and ignores it otherwise. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

static void show(const char* what, uintptr_t hint, size_t bytes, int flags) {
  char* got = mmap((void*)hint, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  if (got == MAP_FAILED) {
    printf("%s: %m\n", what);
    return;
  }
  got[bytes - 1] = 1;
  printf("%s: %s, %s\n", what, (uintptr_t)got == hint ? "there" : "elsewhere",
         (uintptr_t)got + bytes <= 1ul << 31 ? "low" : "high");
}

int main(void) {
  show("free", 0x1000000000, 1 << 20, 0);
  show("taken", 0x1000000000, 1 << 20, 0);
  show("taken in part", 0x1000000000 - 4096, 1 << 20, 0);
  show("not aligned", 0x1800000123, 4096, 0);
  show("low", 0x50000000, 1 << 20, MAP_32BIT);
  show("low and taken", 0x50000000, 1 << 20, MAP_32BIT);
  show("low, no hint", 0, 1 << 20, MAP_32BIT);
  show("below low", 0x20000000, 1 << 20, MAP_32BIT);
  show("high, as a low one", 0x2000000000, 1 << 20, MAP_32BIT);
  show("end beyond low", 0x7fffe000, 1 << 20, MAP_32BIT);
  show("stack", 0x3000000000, 1 << 20, MAP_GROWSDOWN);
  show("below the lowest", 4096, 4096, 0);
  show("behind the highest", 0x7ffffffff000, 4096, 0);
  show("the kernel's", 0xffff800000000000, 4096, 0);
  show("not canonical", 0x900000000000, 4096, 0);
  return 0;
}
