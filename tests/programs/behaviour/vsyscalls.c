/* Calls at the fixed addresses of the vsyscall page, where the kernel has one. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <sys/time.h>
#include <time.h>
#include "check.h"

static int has_page(void) {
  char line[512];
  int found = 0;
  FILE* maps = fopen("/proc/self/maps", "r");
  CHECK(maps != NULL);
  while (fgets(line, sizeof line, maps) != NULL) found |= strstr(line, "[vsyscall]") != NULL;
  fclose(maps);
  return found;
}

/* Emulators and checkers also use addresses of the page without calling it. */
__attribute__((noinline)) static uint64_t bytes_between(uint64_t start, uint64_t end) { return end - start; }

__attribute__((noinline)) static uint64_t page_bytes(void) {
  return bytes_between(0xffffffffff600000ul, 0xffffffffff601000ul);
}

int main(void) {
  CHECK(page_bytes() == 4096);
  if (!has_page()) {
    puts("this kernel has no vsyscall page");
    return 0;
  }
  int (*page_gettimeofday)(struct timeval*, void*) = (void*)0xffffffffff600000ul;
  time_t (*page_time)(time_t*) = (void*)0xffffffffff600400ul;
  long (*page_getcpu)(unsigned*, unsigned*, void*) = (void*)0xffffffffff600800ul;
  struct timeval now;
  for (int i = 0; i < 10; i++) {
    time_t before = time(NULL), stored = 0;
    CHECK(page_gettimeofday(&now, NULL) == 0 && now.tv_sec >= before && now.tv_usec < 1000000);
    time_t after = page_time(&stored);
    CHECK(after >= now.tv_sec - 1 && stored == after);
    printf("%ld.%06ld %ld\n", (long)now.tv_sec, (long)now.tv_usec, (long)after); /* the same in a replay */
  }
  unsigned cpu = 9999;
  CHECK(page_getcpu(&cpu, NULL, NULL) == 0 && cpu < 9999);
  return 0;
}
