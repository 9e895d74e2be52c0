/* Mappings of /dev/zero behave like any private or shared memory. */
#include "check.h"

int main(void) {
  const int zero = open("/dev/zero", O_RDWR);
  char* own = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE, zero, 0);
  char* shared = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, zero, 0);
  char* other = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, zero, 0);
  CHECK(own != MAP_FAILED && shared != MAP_FAILED && other != MAP_FAILED);
  own[4096] = 1;
  const pid_t child = fork();
  if (child == 0) {
    own[4096] = 2;
    shared[5] = 3;
    _exit(0);
  }
  expect_success(child);
  printf("%d %d %d\n", own[4096], shared[5], other[5]);
  return 0;
}
