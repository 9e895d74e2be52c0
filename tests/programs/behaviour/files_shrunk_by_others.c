/* A file that another process makes shorter or longer: mappings of it end where it ends, in every process. */
#define _GNU_SOURCE
#include <setjmp.h>

#include "check.h"

enum { kPage = 4096 };

static sigjmp_buf resume;

static void on_fault(int number, siginfo_t* info, void* context) {
  (void)info, (void)context;
  siglongjmp(resume, number);
}

static int fault_at(volatile const char* byte) {
  int number = sigsetjmp(resume, 1);
  if (number == 0) (void)*byte;
  return number;
}

static void in_child(int file, off_t size) {
  pid_t child = fork();
  if (child == 0) _exit(ftruncate(file, size) == 0 ? 0 : 1);
  expect_success(child);
}

int main(void) {
  char name[] = "/tmp/reweave-shrunk-XXXXXX";
  int file = mkstemp(name);
  CHECK(file >= 0 && unlink(name) == 0 && ftruncate(file, 3 * kPage) == 0);
  on_signal(SIGBUS, on_fault, 0);
  char* shared = mmap(NULL, 3 * kPage, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  char* own = mmap(NULL, 3 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
  shared[2 * kPage] = 's';
  in_child(file, kPage);
  CHECK(fault_at(shared) == 0 && fault_at(shared + kPage) == SIGBUS && fault_at(own + 2 * kPage) == SIGBUS);
  in_child(file, 2 * kPage);
  CHECK(fault_at(shared + kPage) == 0 && fault_at(own + kPage) == 0 && fault_at(shared + 2 * kPage) == SIGBUS);
  in_child(file, 3 * kPage);
  printf("%d after it was cut off\n", shared[2 * kPage]);
  return 0;
}
