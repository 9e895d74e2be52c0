/* A plug-in that is loaded and unloaded repeatedly: its system call is patched again after each loading. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kLoads = 700, kCalls = 5 };

int main(void) {
  static const unsigned char kGetpid[] = {0x90, 0xb8, 39, 0, 0, 0, 0x0f, 0x05, 0xc3}; /* mov $39, %eax; syscall; ret */
  char name[] = "code_mapped_again_XXXXXX";
  const int file = mkstemp(name);
  if (file < 0 || unlink(name) != 0 || ftruncate(file, 4096) != 0) return 2;
  if (pwrite(file, kGetpid, sizeof kGetpid, 0) != sizeof kGetpid) return 2;
  long right = 0;
  for (int i = 0; i < kLoads; i++) {
    void* code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
    if (code == MAP_FAILED) return 3;
    for (int k = 0; k < kCalls; k++) right += ((long (*)(void))code)() == getpid();
    if (munmap(code, 4096) != 0) return 4;
  }
  printf("%ld of %d calls\n", right, kLoads * kCalls);
  return 0;
}
