/* /proc/self/exe leads to the program even if its name was renamed, made unreachable, removed or reused. */
#define _GNU_SOURCE
#include "check.h"

static const char* const kLink = "/proc/self/exe";
static char folder[] = "/tmp/reweave-moved-XXXXXX", program[64], moved[64];

static void is_reached_as(const char* name, nlink_t links) {
  char target[96] = {0};
  struct stat status;
  CHECK(readlink(kLink, target, sizeof target - 1) == (ssize_t)strlen(name));
  CHECK(strcmp(target, name) == 0);
  CHECK(stat(kLink, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == links);
  int file = open(kLink, O_RDONLY);
  char magic[4];
  CHECK(file >= 0 && read(file, magic, 4) == 4 && memcmp(magic, "\177ELF", 4) == 0 && close(file) == 0);
}

static void out_of_reach(void) {
  if (geteuid() != 0) return;
  pid_t child = fork();
  if (child == 0) {
    CHECK(chmod(folder, 0700) == 0 && setresuid(65534, 65534, 65534) == 0);
    FAILS(access(moved, F_OK), EACCES);
    is_reached_as(moved, 1);
    _exit(0);
  }
  expect_success(child);
}

static void moves_and_goes(void) {
  is_reached_as(program, 1);
  CHECK(rename(program, moved) == 0);
  is_reached_as(moved, 1);
  int another = open(program, O_WRONLY | O_CREAT | O_EXCL, 0755);
  CHECK(another >= 0 && write(another, "#!/bin/false\n", 13) == 13 && close(another) == 0);
  is_reached_as(moved, 1);
  out_of_reach();
  CHECK(unlink(moved) == 0 && unlink(program) == 0);
  char gone[96];
  snprintf(gone, sizeof gone, "%s (deleted)", moved);
  is_reached_as(gone, 0);
  execl(kLink, "again", "again", NULL);
  _exit(9);
}

static void copy_itself(void) {
  static char bytes[1 << 20];
  int in = open(kLink, O_RDONLY), out = open(program, O_WRONLY | O_CREAT | O_EXCL, 0755);
  CHECK(in >= 0 && out >= 0);
  for (ssize_t n; (n = read(in, bytes, sizeof bytes)) > 0;) CHECK(write(out, bytes, (size_t)n) == n);
  CHECK(close(in) == 0 && close(out) == 0);
}

int main(int count, char** arguments) {
  if (count > 1 && strcmp(arguments[1], "again") == 0) {
    struct stat status;
    CHECK(stat(kLink, &status) == 0 && status.st_nlink == 0);
    return 0;
  }
  if (count > 1) {
    memcpy(folder, arguments[1], sizeof folder);
    snprintf(program, sizeof program, "%s/program", folder);
    snprintf(moved, sizeof moved, "%s/moved", folder);
    moves_and_goes();
  }
  CHECK(mkdtemp(folder) != NULL);
  snprintf(program, sizeof program, "%s/program", folder);
  copy_itself();
  pid_t child = fork();
  if (child == 0) {
    execl(program, "program", folder, NULL);
    _exit(9);
  }
  expect_success(child);
  CHECK(rmdir(folder) == 0);
  puts("reached");
  return 0;
}
