/* Transfers larger than one record arrive complete. Read-only memory from which data are written stays unchanged. */
#define _GNU_SOURCE
#include <sys/uio.h>

#include "check.h"

enum { kBytes = 24 << 20 };

static unsigned sum_of(const unsigned char* bytes) {
  unsigned sum = 0;
  for (long i = 0; i < kBytes; i++) sum = sum * 31 + bytes[i];
  return sum;
}

static void from_constants(void) {
  struct iovec parts[2] = {{(void*)"read", 4}, {(void*)"-only\n", 6}};
  const int file = memfd_create("parts", 0);
  CHECK(writev(file, parts, 2) == 10);
  CHECK(pwritev(file, parts, 2, 3) == 10);
  CHECK(writev(1, parts, 2) == 10);
}

static void out_of_a_pipe(void) {
  int ends[2];
  char got[4];
  CHECK(pipe(ends) == 0);
  struct iovec in = {(void*)"abcd", 4}, out = {got, 4};
  CHECK(vmsplice(ends[1], &in, 1, 0) == 4);
  CHECK(vmsplice(ends[0], &out, 1, 0) == 4);
  CHECK(memcmp(got, "abcd", 4) == 0);
}

int main(void) {
  unsigned char* bytes = malloc(kBytes);
  for (long i = 0; i < kBytes; i++) bytes[i] = (unsigned char)(i * i >> 7);
  const unsigned sum = sum_of(bytes);
  const int file = memfd_create("large", 0);
  CHECK(write(file, bytes, kBytes) == kBytes);
  memset(bytes, 0, kBytes);
  CHECK(pread(file, bytes, kBytes, 0) == kBytes);
  CHECK(sum_of(bytes) == sum);
  memset(bytes, 0, kBytes);
  struct iovec halves[2] = {{bytes, kBytes / 2}, {bytes + kBytes / 2, kBytes / 2}};
  CHECK(preadv(file, halves, 2, 0) == kBytes);
  CHECK(sum_of(bytes) == sum);
  from_constants();
  out_of_a_pipe();
  printf("%u\n", sum);
  return 0;
}
