/* The bases of FS and GS as instructions see them. */
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <cpuid.h>
#include <immintrin.h>
#include "check.h"

static unsigned long get(int code) {
  unsigned long value = 99;
  CHECK(syscall(SYS_arch_prctl, code, &value) == 0);
  return value;
}

__attribute__((target("fsgsbase"))) static void reads_bases(void) {
  CHECK(_readgsbase_u64() == 0 && _readgsbase_u32() == 0);
  CHECK(_readfsbase_u64() == get(ARCH_GET_FS));
  unsigned long fs = _readfsbase_u64();
  _writefsbase_u64(fs);
  CHECK(get(ARCH_GET_FS) == fs);
}

int main(void) {
  CHECK(get(ARCH_GET_GS) == 0);
  unsigned a, b = 0, c, d;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_FSGSBASE) != 0) reads_bases();
  unsigned short gs = 99, fs = 99;
  __asm__("mov %%gs, %0; mov %%fs, %1" : "=r"(gs), "=r"(fs));
  CHECK(gs == 0 && fs == 0);
  puts("bases");
  return 0;
}
