/* /proc/self/exe leads to the program for every call that follows links, and is a link for those that do not. */
#define _GNU_SOURCE
#include <sys/inotify.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

#include "check.h"

static const char* const kLink = "/proc/self/exe";

static void copy_program(const char* to) {
  static char bytes[1 << 20];
  int in = open(kLink, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_EXCL, 0755);
  CHECK(in >= 0 && out >= 0);
  for (ssize_t n; (n = read(in, bytes, sizeof bytes)) > 0;) CHECK(write(out, bytes, (size_t)n) == n);
  CHECK(close(in) == 0 && close(out) == 0);
}

static void changed_through_the_link(const char* program) {
  const struct timespec times[2] = {{1000, 0}, {2000, 0}};
  struct stat status;
  CHECK(utimensat(AT_FDCWD, kLink, times, 0) == 0);
  CHECK(stat(program, &status) == 0 && status.st_mtime == 2000);
  CHECK(chmod(kLink, 0700) == 0);
  CHECK(stat(program, &status) == 0 && (status.st_mode & 0777) == 0700);
  CHECK(chown(kLink, (uid_t)-1, (gid_t)-1) == 0);
  if (setxattr(kLink, "user.reweave", "x", 1, 0) == 0) {
    char value[4];
    CHECK(getxattr(program, "user.reweave", value, sizeof value) == 1 &&
          getxattr(kLink, "user.reweave", value, 4) == 1);
    CHECK(removexattr(kLink, "user.reweave") == 0);
  }
}

static void seen_through_the_link(const char* program) {
  struct statfs there, through;
  CHECK(statfs(program, &there) == 0 && statfs(kLink, &through) == 0);
  CHECK(memcmp(&there.f_fsid, &through.f_fsid, sizeof there.f_fsid) == 0);
  int events = inotify_init1(IN_NONBLOCK);
  struct inotify_event event;
  CHECK(inotify_add_watch(events, kLink, IN_ATTRIB) == 1 && chmod(program, 0755) == 0);
  CHECK(read(events, &event, sizeof event) == sizeof event);
}

static void the_link_itself(void) {
  struct stat status;
  FAILS(open(kLink, O_RDONLY | O_NOFOLLOW), ELOOP);
  int link = open(kLink, O_PATH | O_NOFOLLOW);
  CHECK(link >= 0 && fstat(link, &status) == 0 && S_ISLNK(status.st_mode));
  FAILS(fchmodat(AT_FDCWD, kLink, 0600, AT_SYMLINK_NOFOLLOW), EOPNOTSUPP);
}

int main(int count, char** arguments) {
  if (count > 1) {
    changed_through_the_link(arguments[1]);
    seen_through_the_link(arguments[1]);
    the_link_itself();
    return 0;
  }
  char folder[] = "/tmp/reweave-link-XXXXXX", program[64];
  CHECK(mkdtemp(folder) != NULL);
  snprintf(program, sizeof program, "%s/program", folder);
  copy_program(program);
  pid_t child = fork();
  if (child == 0) {
    execl(program, "program", program, NULL);
    _exit(9);
  }
  expect_success(child);
  CHECK(unlink(program) == 0 && rmdir(folder) == 0);
  puts("followed");
  return 0;
}
