/* Programs executed from memory and after their file was removed, with no arguments or too many; /proc describes the
 * program. */
#define _GNU_SOURCE
#include "check.h"

static void copy_program(int to) {
  static char buffer[65536];
  const int from = open("/bin/true", O_RDONLY);
  CHECK(from >= 0);
  for (ssize_t n; (n = read(from, buffer, sizeof buffer)) > 0;) CHECK(write(to, buffer, (size_t)n) == n);
  close(from);
}

static void run(int program) {
  char *arguments[] = {"nameless", NULL}, *environment[] = {NULL};
  const pid_t child = fork();
  if (child == 0) {
    syscall(SYS_execveat, program, "", arguments, environment, AT_EMPTY_PATH);
    _exit(99);
  }
  expect_success(child);
}

static void too_much(void) {
  static char large[(128 << 10) + 2];
  memset(large, 'x', sizeof large - 1);
  char *arguments[] = {"true", large, NULL}, *environment[] = {NULL};
  FAILS(execve("/bin/true", arguments, environment), E2BIG);
}

static void without_arguments(void) {
  char* none[] = {NULL};
  const pid_t child = fork();
  if (child == 0) {
    execve("/bin/true", none, none);
    _exit(99);
  }
  CHECK(WIFEXITED(status_of(child)));
}

static void link_of_child(void) {
  char name[64], own[256] = {0}, of_child[256] = {0};
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  snprintf(name, sizeof name, "/proc/%d/exe", child);
  CHECK(readlink("/proc/self/exe", own, sizeof own - 1) > 0);
  CHECK(readlink(name, of_child, sizeof of_child - 1) > 0);
  CHECK(strcmp(own, of_child) == 0);
  CHECK(kill(child, SIGKILL) == 0);
  status_of(child);
}

int main(void) {
  const int memory = memfd_create("program", MFD_CLOEXEC);
  copy_program(memory);
  run(memory);
  char name[] = "/tmp/reweave-nameless-XXXXXX";
  const int file = mkstemp(name);
  copy_program(file);
  CHECK(fchmod(file, 0755) == 0);
  close(file);
  const int program = open(name, O_RDONLY | O_CLOEXEC);
  CHECK(unlink(name) == 0);
  run(program);
  too_much();
  without_arguments();
  struct stat opened, named;
  CHECK(fstat(open("/proc/self/exe", O_RDONLY), &opened) == 0);
  CHECK(stat("/proc/self/exe", &named) == 0);
  CHECK(opened.st_ino == named.st_ino && opened.st_dev == named.st_dev);
  link_of_child();
  puts("nameless programs ran");
  return 0;
}
