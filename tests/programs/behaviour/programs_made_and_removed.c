/* Programs, a library and data that are created during the run, used, and removed before it ends, several under one
 * name, as configure scripts and builds do. A replay finds none of them on the machine. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/mman.h>
#include "check.h"

static char name[64];

/* With `keep_times`, the copy gets the source's modification time, as with `cp -p`. */
static void copy_file(const char* from, int keep_times) {
  char bytes[65536];
  int in = open(from, O_RDONLY), out = open(name, O_CREAT | O_TRUNC | O_WRONLY, 0755);
  CHECK(in >= 0 && out >= 0);
  for (ssize_t n; (n = read(in, bytes, sizeof bytes)) > 0;) CHECK(write(out, bytes, (size_t)n) == n);
  struct stat status;
  CHECK(fstat(in, &status) == 0);
  struct timespec times[2] = {status.st_atim, status.st_mtim};
  if (keep_times) CHECK(futimens(out, times) == 0);
  CHECK(close(in) == 0 && close(out) == 0);
}

static int run_once(const char* program, int keep_times) {
  copy_file(program, keep_times);
  pid_t child = fork();
  if (child == 0) execl(name, name, NULL);
  int status = status_of(child);
  CHECK(unlink(name) == 0);
  return WEXITSTATUS(status);
}

static void load_library(void) {
  copy_file("/lib/x86_64-linux-gnu/libm.so.6", 1);
  void* library = dlopen(name, RTLD_NOW);
  CHECK(library != NULL && unlink(name) == 0);
  double (*root)(double) = (double (*)(double))dlsym(library, "sqrt");
  CHECK(root != NULL && root(49) == 7);
}

static void map_data(const char* text) {
  int fd = open(name, O_CREAT | O_EXCL | O_WRONLY, 0644);
  CHECK(write(fd, text, 6) == 6 && close(fd) == 0);
  fd = open(name, O_RDONLY);
  const char* data = mmap(NULL, 6, PROT_READ, MAP_PRIVATE, fd, 0);
  CHECK(data != MAP_FAILED && close(fd) == 0 && unlink(name) == 0);
  printf("%.6s\n", data);
}

int main(void) {
  snprintf(name, sizeof name, "/tmp/reweave-made-%d", getpid());
  for (int keep = 0; keep < 2; keep++)
    for (int i = 0; i < 3; i++) CHECK(run_once("/bin/true", keep) == 0 && run_once("/bin/false", keep) == 1);
  load_library();
  map_data("first\n"), map_data("other\n");
  puts("made and removed");
  return 0;
}
