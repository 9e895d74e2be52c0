/* Another process shortens or extends a file: in every process, mappings end where the file ends. */
#define _GNU_SOURCE
#include "faults.h"

enum { kPage = 4096 };

static void in_child(int file, off_t size) {
  pid_t child = fork();
  if (child == 0) _exit(ftruncate(file, size) == 0 ? 0 : 1);
  expect_success(child);
}

int main(void) {
  char name[] = "/tmp/reweave-shrunk-XXXXXX";
  int file = mkstemp(name);
  CHECK(file >= 0 && unlink(name) == 0 && ftruncate(file, 3 * kPage) == 0);
  catch_faults();
  char* shared = mmap(NULL, 3 * kPage, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  char* own = mmap(NULL, 3 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
  shared[2 * kPage] = 's';
  in_child(file, kPage);
  CHECK(faults(shared) == 0 && faults(shared + kPage) == SIGBUS && faults(own + 2 * kPage) == SIGBUS);
  in_child(file, 2 * kPage);
  CHECK(faults(shared + kPage) == 0 && faults(own + kPage) == 0 && faults(shared + 2 * kPage) == SIGBUS);
  in_child(file, 3 * kPage);
  printf("%d after it was cut off\n", shared[2 * kPage]);
  return 0;
}
