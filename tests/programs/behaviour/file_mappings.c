/* Mapped files: the end of the file, growing and shrinking under the mapping, writes through descriptors. */
#define _GNU_SOURCE
#include "faults.h"

static const long kPage = 4096;

static char name[] = "/tmp/reweave-map-XXXXXX";

static void end_of_file(int fd, int kind) {
  CHECK(ftruncate(fd, 0) == 0 && pwrite(fd, "begin", 5, 0) == 5);
  char* p = mmap(NULL, (size_t)(4 * kPage), PROT_READ | PROT_WRITE, kind, fd, 0);
  CHECK(p != MAP_FAILED && strcmp(p, "begin") == 0 && faults(p + kPage) == SIGBUS);
  CHECK(ftruncate(fd, 2 * kPage + 10) == 0);
  CHECK(p[kPage] == 0 && p[2 * kPage + 100] == 0 && faults(p + 3 * kPage) == SIGBUS);
  CHECK(pwrite(fd, "second", 6, kPage) == 6 && strcmp(p + kPage, "second") == 0);
  CHECK(pwrite(fd, "fourth", 6, 3 * kPage) == 6 && strcmp(p + 3 * kPage, "fourth") == 0);
  CHECK(ftruncate(fd, kPage) == 0 && faults(p + kPage) == SIGBUS && strcmp(p, "begin") == 0);
  CHECK(ftruncate(fd, 2 * kPage) == 0 && p[kPage] == 0);
  CHECK(munmap(p, (size_t)(4 * kPage)) == 0);
}

static void both_ways(int fd) {
  char text[8] = "";
  CHECK(ftruncate(fd, 2 * kPage) == 0);
  char* p = mmap(NULL, (size_t)(2 * kPage), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  char* ro = mmap(NULL, (size_t)kPage, PROT_READ, MAP_SHARED, fd, kPage);
  CHECK(p != MAP_FAILED && ro != MAP_FAILED);
  strcpy(p + kPage, "by map");
  CHECK(pread(fd, text, 7, kPage) == 7 && strcmp(text, "by map") == 0 && strcmp(ro, "by map") == 0);
  CHECK(pwrite(fd, "by fd", 6, kPage) == 6 && strcmp(p + kPage, "by fd") == 0 && strcmp(ro, "by fd") == 0);
  CHECK(lseek(fd, kPage, SEEK_SET) == kPage && write(fd, "at", 2) == 2 && strcmp(p + kPage, "at fd") == 0);
  pid_t child = fork();
  if (child == 0) {
    int own = open(name, O_RDWR);
    char* q = mmap(NULL, (size_t)(2 * kPage), PROT_READ | PROT_WRITE, MAP_SHARED, own, 0);
    strcpy(q, "from the child");
    CHECK(pwrite(own, "written there", 14, 100) == 14);
    _exit(0);
  }
  expect_success(child);
  CHECK(strcmp(p, "from the child") == 0 && strcmp(p + 100, "written there") == 0 &&
        msync(p, (size_t)kPage, MS_SYNC) == 0);
  CHECK(munmap(p, (size_t)(2 * kPage)) == 0 && munmap(ro, (size_t)kPage) == 0);
}

static void private_copy(int fd) {
  CHECK(pwrite(fd, "original", 9, 0) == 9);
  char* p = mmap(NULL, (size_t)kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
  CHECK(strcmp(p, "original") == 0);
  p[0] = 'O';
  CHECK(pwrite(fd, "changed!", 9, 0) == 9 && strcmp(p, "Original") == 0);
  CHECK(madvise(p, (size_t)kPage, MADV_DONTNEED) == 0 && strcmp(p, "changed!") == 0);
  CHECK(munmap(p, (size_t)kPage) == 0);
}

static void memory_file(void) {
  int fd = memfd_create("memory", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  CHECK(fd >= 0 && ftruncate(fd, kPage) == 0);
  char* p = mmap(NULL, (size_t)kPage, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  strcpy(p, "in memory");
  CHECK(fallocate(fd, 0, 0, 3 * kPage) == 0);
  char* q = mmap(NULL, (size_t)(3 * kPage), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  CHECK(strcmp(q, "in memory") == 0 && q[2 * kPage] == 0);
  q[2 * kPage] = 5;
  CHECK(mremap(p, (size_t)kPage, (size_t)(3 * kPage), MREMAP_MAYMOVE) != MAP_FAILED);
  CHECK(fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK) == 0 &&
        fcntl(fd, F_GET_SEALS) == (F_SEAL_GROW | F_SEAL_SHRINK));
  FAILS(ftruncate(fd, kPage), EPERM);
  close(fd);
}

int main(void) {
  catch_faults();
  int fd = mkstemp(name);
  CHECK(fd >= 0);
  end_of_file(fd, MAP_SHARED);
  both_ways(fd);
  private_copy(fd);
  memory_file();
  end_of_file(fd, MAP_PRIVATE);
  unlink(name);
  puts("mapped files");
  return 0;
}
