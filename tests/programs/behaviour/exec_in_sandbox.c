/* Programs that confine themselves (Landlock) and then execute others: only what their rules allow works. */
#define _GNU_SOURCE
#include <linux/landlock.h>
#include <sys/prctl.h>
#include "check.h"

static const uint64_t kRights = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_EXECUTE;

static void allow(int rules, const char* folder, uint64_t rights) {
  struct landlock_path_beneath_attr below = {.allowed_access = rights,
                                             .parent_fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC)};
  CHECK(below.parent_fd >= 0 && syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &below, 0) == 0);
  close(below.parent_fd);
}

/* Returns false if this kernel does not have Landlock. */
static int confine(uint64_t rights_to_libraries) {
  struct landlock_ruleset_attr handled = {.handled_access_fs = kRights};
  const int rules = (int)syscall(SYS_landlock_create_ruleset, &handled, sizeof handled, 0);
  if (rules < 0) return 0;
  allow(rules, "/usr/bin", kRights);
  allow(rules, "/usr/lib", rights_to_libraries);
  allow(rules, "/etc", LANDLOCK_ACCESS_FS_READ_FILE);
  CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && syscall(SYS_landlock_restrict_self, rules, 0) == 0);
  close(rules);
  return 1;
}

static char copy[] = "/tmp/reweave-sandbox-XXXXXX", script[] = "/tmp/reweave-script-XXXXXX";

static void make_files(void) {
  char command[200];
  int fd = mkstemp(copy);
  CHECK(fd >= 0 && close(fd) == 0);
  snprintf(command, sizeof command, "cp /usr/bin/true %s && chmod 755 %s", copy, copy);
  CHECK(system(command) == 0);
  fd = mkstemp(script);
  CHECK(fd >= 0 && dprintf(fd, "#!%s\n", copy) > 0 && fchmod(fd, 0755) == 0 && close(fd) == 0);
}

static void in_child(void (*body)(void)) {
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    body();
    _exit(0);
  }
  expect_success(child);
}

static void allowed(void) {
  if (!confine(kRights)) return;
  execl("/usr/bin/sh", "sh", "-c", "/usr/bin/echo inside; exec /usr/bin/echo again", NULL);
  CHECK(!"executed");
}

static void forbidden(void) {
  char* argv[] = {copy, NULL};
  if (!confine(kRights)) return;
  FAILS(execv(copy, argv), EACCES);
  FAILS(execv(script, argv), EACCES);
}

static void forbidden_loader(void) {
  if (!confine(LANDLOCK_ACCESS_FS_READ_FILE)) return;
  FAILS(execl("/usr/bin/true", "true", NULL), EACCES);
}

static void open_before(void) {
  const int fd = open(copy, O_RDONLY);
  char* argv[] = {copy, NULL};
  if (fd < 0 || !confine(kRights)) return;
  FAILS(fexecve(fd, argv, argv + 1), EACCES);
  execlp("true", "true", NULL);
  CHECK(!"executed");
}

int main(void) {
  make_files();
  in_child(allowed);
  in_child(forbidden);
  in_child(forbidden_loader);
  in_child(open_before);
  unlink(copy);
  unlink(script);
  puts("confined");
  return 0;
}
