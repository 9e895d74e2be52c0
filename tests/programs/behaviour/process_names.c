/* A process is named after the path that was executed, not after a link's target or a script's interpreter. */
#define _GNU_SOURCE
#include <sys/prctl.h>
#include "check.h"

static void has_name(const char* path, const char* expected, const char* argument) {
  int ends[2];
  char name[64] = "";
  CHECK(pipe(ends) == 0);
  pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], 1);
    execl(path, path, argument, NULL);
    _exit(9);
  }
  close(ends[1]);
  ssize_t bytes = read(ends[0], name, sizeof name - 1);
  CHECK(bytes > 0 && strncmp(name, expected, strlen(expected)) == 0 && name[strlen(expected)] == '\n');
  close(ends[0]);
  expect_success(child);
}

int main(int count, char** arguments) {
  char folder[] = "/tmp/reweave-names-XXXXXX", own[512] = "", link[64], script[64];
  if (count > 1 && strcmp(arguments[1], "tell") == 0) {
    char name[17] = "";
    CHECK(prctl(PR_GET_NAME, name) == 0);
    puts(name);
    return 0;
  }
  CHECK(mkdtemp(folder) != NULL && readlink("/proc/self/exe", own, sizeof own - 1) > 0);
  snprintf(link, sizeof link, "%s/a_link", folder);
  snprintf(script, sizeof script, "%s/a_script", folder);
  CHECK(symlink(own, link) == 0);
  has_name(link, "a_link", "tell");
  FILE* file = fopen(script, "w");
  CHECK(file != NULL && fprintf(file, "#!/bin/cat /proc/self/comm\n") > 0 && fclose(file) == 0);
  CHECK(chmod(script, 0755) == 0);
  has_name(script, "a_script", NULL);
  CHECK(unlink(link) == 0 && unlink(script) == 0 && rmdir(folder) == 0);
  puts("named");
  return 0;
}
