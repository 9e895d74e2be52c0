/* A program that maps code to read it, as translators do, finds the contents of the file: code is patched only where
 * it is mapped to be executed. */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include "check.h"

int main(void) {
  const int file = open("/lib64/ld-linux-x86-64.so.2", O_RDONLY);
  struct stat status;
  CHECK(file >= 0 && fstat(file, &status) == 0);
  const size_t bytes = (size_t)status.st_size;
  unsigned char* read_in = malloc(bytes);
  CHECK(read_in != NULL && pread(file, read_in, bytes, 0) == status.st_size);
  const unsigned char* code = mmap(NULL, bytes, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
  CHECK(code != MAP_FAILED && memcmp(code, read_in, bytes) == 0);
  free(read_in);
  return 0;
}
