/* /proc lists exactly the descriptors that the process opened; one free descriptor is enough to list them. */
#define _GNU_SOURCE
#include <dirent.h>
#include <sys/resource.h>
#include "check.h"

static int listed(const char* folder) {
  int count = 0;
  DIR* directory = opendir(folder);
  CHECK(directory != NULL);
  for (struct dirent* entry; (entry = readdir(directory)) != NULL;) {
    int number = atoi(entry->d_name);
    if (entry->d_name[0] == '.') continue;
    CHECK(fcntl(number, F_GETFD) != -1);
    count++;
  }
  closedir(directory);
  return count - 1; /* without the folder's own */
}

int main(void) {
  char byte;
  for (int fd = 3; fd < 1024; fd++) close(fd);
  CHECK(listed("/proc/self/fd") == 3 && listed("/proc/self/fdinfo") == 3);
  CHECK(open("/dev/null", O_RDONLY) == 3 && listed("/proc/self/fd") == 4);
  for (int fd = 4; fd < 1100; fd++) {
    struct stat found;
    FAILS(fstat(fd, &found), EBADF);
    FAILS(fstatat(fd, "", &found, AT_EMPTY_PATH), EBADF);
    CHECK(fstatat(fd, "/dev/null", &found, 0) == 0);
  }
  struct rlimit few = {5, 5};
  CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
  int status = open("/proc/self/status", O_RDONLY);
  CHECK(status == 4 && read(status, &byte, 1) == 1 && byte == 'N');
  FAILS(open("/proc/self/status", O_RDONLY), EMFILE);
  puts("listed");
  return 0;
}
