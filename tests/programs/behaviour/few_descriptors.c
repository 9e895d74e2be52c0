/* While all descriptors are in use: writes to a mapped file show in the mapping, also in a replay, and exec of a
 * program that needs no descriptor works. */
#define _GNU_SOURCE
#include <sys/resource.h>

#include "check.h"

int main(int count, char** arguments) {
  if (count > 1) return strcmp(arguments[1], "again") == 0 ? 0 : 1;
  char name[] = "/tmp/reweave-few-XXXXXX";
  int file = mkstemp(name);
  CHECK(file >= 0 && unlink(name) == 0 && ftruncate(file, 4096) == 0);
  struct rlimit limit;
  CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
  limit.rlim_cur = (rlim_t)file + 1;
  CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
  FAILS(open("/dev/null", O_RDONLY), EMFILE);
  char* map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  strcpy(map, "mapped");
  CHECK(pwrite(file, "MAP", 3, 0) == 3);
  puts(map);
  CHECK(fflush(stdout) == 0 && fcntl(file, F_SETFD, FD_CLOEXEC) == 0);
  execl("/proc/self/exe", "few_descriptors", "again", NULL);
  return 1;
}
