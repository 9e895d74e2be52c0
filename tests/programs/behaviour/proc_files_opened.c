/* Files opened in /proc/self behave like other files: read-only, closed on exec or not, readable in parts, and from
 * the beginning again after lseek. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static void look(const char* path, int flags) {
  char first[32] = {0}, again[32] = {0};
  struct stat status;
  int fd = open(path, flags, 0600);
  if (fd < 0) {
    printf("%s with %#x: %m\n", path, (unsigned)flags);
    return;
  }
  printf("%s with %#x: mode %#x, on exec %d", path, (unsigned)flags,
         (unsigned)(fcntl(fd, F_GETFL) & (O_ACCMODE | O_NONBLOCK)), fcntl(fd, F_GETFD));
  if (fstat(fd, &status) == 0) printf(", permissions %o", (unsigned)status.st_mode);
  printf(", write %s", write(fd, "x", 1) < 0 ? strerrorname_np(errno) : "done");
  ssize_t n = read(fd, first, sizeof first - 1);
  lseek(fd, 0, SEEK_SET);
  ssize_t m = read(fd, again, sizeof again - 1);
  printf(", %zd and %zd bytes, %s\n", n, m, strcmp(first, again) == 0 ? "the same" : "different");
  close(fd);
}

/* True if each address at which a mapping of `path` begins is also in `other`. */
static int agrees(const char* path, const char* other) {
  static char text[1 << 18], line[4096], start[32];
  FILE* file = fopen(other, "r");
  text[fread(text, 1, sizeof text - 1, file)] = 0;
  fclose(file);
  file = fopen(path, "r");
  int all = 1;
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    start[0] = '\n';
    if (sscanf(line, "%16[0-9a-f]", start + 1) == 1 && strlen(start) > 8)
      all &= strstr(text, start) != NULL || strncmp(text, start + 1, strlen(start + 1)) == 0;
  }
  if (file != NULL) fclose(file);
  return all;
}

int main(void) {
  const char* paths[] = {"/proc/self/maps", "/proc/self/smaps", "/proc/self/status", "/proc/thread-self/status",
                         "/proc/self/stat"};
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    look(paths[i], O_RDONLY);
    look(paths[i], O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    look(paths[i], O_RDONLY | O_CREAT | O_EXCL);
    look(paths[i], O_RDONLY | O_DIRECTORY);
  }
  printf("%d %d\n", agrees("/proc/self/smaps", "/proc/self/maps"), agrees("/proc/self/numa_maps", "/proc/self/maps"));
  return 0;
}
