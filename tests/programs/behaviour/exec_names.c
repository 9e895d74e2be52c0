/* The name of a program executed by its link in /proc, by a descriptor, or after it was removed; and exec while all
 * descriptors are in use. */
#define _GNU_SOURCE
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "check.h"

/* Prints the names under which this program was executed. */
static int tell(void) {
  char comm[17] = "", exe[512] = "";
  CHECK(prctl(PR_GET_NAME, comm) == 0 && readlink("/proc/self/exe", exe, sizeof exe - 1) > 0);
  printf("%s, executed as %s, is %s\n", comm, (const char*)getauxval(AT_EXECFN), strrchr(exe, '/') + 1);
  return 0;
}

static void copy(const char* from, const char* to) {
  static char bytes[1 << 20];
  int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT, 0755);
  for (ssize_t n; (n = read(in, bytes, sizeof bytes)) > 0;) CHECK(write(out, bytes, (size_t)n) == n);
  CHECK(close(in) == 0 && close(out) == 0);
}

static void by_link(void) { execl("/proc/self/exe", "x", "tell", NULL); }

static void by_link_to_link(void) {
  char path[] = "/tmp/linked-XXXXXX";
  CHECK(mkdtemp(path) != NULL && chdir(path) == 0 && symlink("/proc/self/exe", "again") == 0);
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) execl("again", "x", "tell", NULL);
  expect_success(child);
  CHECK(unlink("again") == 0 && rmdir(path) == 0);
  _exit(0);
}

static void within_proc(void) {
  CHECK(chdir("/proc/self") == 0);
  execl("exe", "x", "tell", NULL);
}

static void removed(void) {
  char path[] = "/tmp/reweave-removed";
  char* arguments[] = {"x", "tell", NULL};
  copy("/proc/self/exe", path);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  CHECK(unlink(path) == 0);
  fexecve(file, arguments, environ);
}

static void without_descriptors(void) {
  struct rlimit limit = {64, 64};
  CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
  while (fcntl(0, F_DUPFD_CLOEXEC, 0) >= 0) {
  }
  CHECK(errno == EMFILE);
  by_link();
}

static void in_child(void (*execute)(void)) {
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    execute();
    _exit(9);
  }
  expect_success(child);
}

int main(int count, char** arguments) {
  (void)arguments;
  if (count > 1) return tell();
  in_child(by_link);
  in_child(by_link_to_link);
  in_child(within_proc);
  in_child(removed);
  in_child(without_descriptors);
  return 0;
}
