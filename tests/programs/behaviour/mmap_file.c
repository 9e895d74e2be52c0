/* Private and shared mappings of a temporary file, seen through reads, writes and a second mapping. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int main(void) {
  char name[] = "/tmp/reweave-map-XXXXXX", buffer[16];
  int fd = mkstemp(name);
  if (fd < 0 || ftruncate(fd, 8192) != 0 || pwrite(fd, "original", 8, 0) != 8) return 1;
  char* shared = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  char* private_ = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
  char* second = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 4096);
  if (shared == MAP_FAILED || private_ == MAP_FAILED || second == MAP_FAILED) return 1;
  printf("mapped %p %p %p\n", (void*)shared, (void*)private_, (void*)second);
  memcpy(private_, "private!", 8);
  memcpy(shared + 4096, "page two", 8);
  ssize_t got = pread(fd, buffer, 8, 0);
  printf("file '%.*s' private '%.8s' second '%.8s'\n", (int)got, buffer, private_, second);
  memcpy(shared, "changed.", 8);
  msync(shared, 8192, MS_SYNC);
  got = pread(fd, buffer, 8, 0);
  printf("file '%.*s' private '%.8s'\n", (int)got, buffer, private_);
  if (pwrite(fd, "written.", 8, 0) != 8) return 1;
  printf("shared '%.8s'\n", shared);
  munmap(private_, 8192);
  munmap(shared, 8192);
  unlink(name);

  int memory = memfd_create("memory", 0);
  if (memory < 0 || ftruncate(memory, 4096) != 0) return 1;
  char* m = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
  strcpy(m, "memfd");
  got = pread(memory, buffer, 5, 0);
  printf("%.*s\n", (int)got, buffer);
  return 0;
}
