/* Seals of a memory file: what each forbids, and what earlier and later mappings may do. */
#define _GNU_SOURCE
#include "check.h"

#define SEAL_FUTURE_WRITE 0x10
#define NO_MAPPING(...) CHECK(mmap(__VA_ARGS__) == MAP_FAILED && errno == EPERM)

int main(void) {
  int fd = memfd_create("sealed", MFD_ALLOW_SEALING | MFD_CLOEXEC);
  CHECK(fd >= 0 && ftruncate(fd, 8192) == 0);
  char* shared = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  strcpy(shared, "hello");
  FAILS(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), EBUSY);
  CHECK(munmap(shared, 8192) == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) == 0);
  FAILS(ftruncate(fd, 4096), EPERM);
  CHECK(ftruncate(fd, 12288) == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_GROW) == 0);
  FAILS(ftruncate(fd, 16384), EPERM);
  shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  CHECK(fcntl(fd, F_ADD_SEALS, SEAL_FUTURE_WRITE) == 0);
  FAILS(pwrite(fd, "x", 1, 0), EPERM);
  shared[1] = 'E';
  NO_MAPPING(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  char* read_only = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
  CHECK(read_only != MAP_FAILED && strcmp(read_only, "hEllo") == 0);
  FAILS(mprotect(read_only, 4096, PROT_READ | PROT_WRITE), EACCES);
  CHECK(fcntl(fd, F_GET_SEALS) == (F_SEAL_SHRINK | F_SEAL_GROW | SEAL_FUTURE_WRITE));
  CHECK(fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL) == 0);
  FAILS(fcntl(fd, F_ADD_SEALS, F_SEAL_GROW), EPERM);
  char* private = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
  CHECK(private != MAP_FAILED);
  private[0] = 'J';
  CHECK(strcmp(read_only, "hEllo") == 0 && private[1] == 'E');
  puts("sealed");
  return 0;
}
