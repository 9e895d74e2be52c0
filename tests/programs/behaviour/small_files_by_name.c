/* Small files that are mapped when their names lead elsewhere: relative names, links, reused descriptor numbers.
 */
#define _GNU_SOURCE
#include "check.h"

static void make(const char* name, const char* text) {
  int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  CHECK(fd >= 0 && write(fd, text, strlen(text)) == (long)strlen(text) && close(fd) == 0);
}

static void shows(int fd, const char* text) {
  char* p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
  CHECK(p != MAP_FAILED && strcmp(p, text) == 0 && munmap(p, 4096) == 0);
}

static int opened(const char* name) {
  int fd = open(name, O_RDONLY);
  CHECK(fd >= 0);
  return fd;
}

static void under_names(void) {
  CHECK(symlink("one", "link") == 0);
  int fd = opened("link");
  CHECK(unlink("link") == 0);
  shows(fd, "first");
  CHECK(rename("one", "uno") == 0);
  shows(fd, "first");
  CHECK(chdir("below") == 0);
  int same_name = opened("../uno");
  shows(same_name, "first");
  CHECK(chdir("..") == 0 && close(same_name) == 0 && close(fd) == 0);
  int folder = open("below", O_RDONLY | O_DIRECTORY);
  fd = openat(folder, "two", O_RDONLY);
  CHECK(folder >= 0 && fd >= 0);
  shows(fd, "second");
  CHECK(close(fd) == 0 && close(folder) == 0);
}

static void under_numbers(void) {
  int two = opened("below/two"), one = opened("uno");
  int third = dup(two);
  CHECK(dup2(two, one) == one);
  shows(one, "second");
  CHECK(close(one) == 0 && opened("uno") == one);
  shows(one, "first");
  CHECK(close(one) == 0 && dup(two) == one);
  shows(one, "second");
  CHECK(close_range((unsigned)one, (unsigned)one, 0) == 0 && fcntl(two, F_DUPFD, one) == one);
  shows(one, "second");
  CHECK(close(third) == 0 && close(one) == 0 && close(two) == 0);
}

static void in_a_child(void) {
  int fd = opened("uno");
  pid_t child = fork();
  if (child == 0) {
    shows(fd, "first");
    CHECK(close(fd) == 0 && opened("below/two") == fd);
    shows(fd, "second");
    _exit(0);
  }
  shows(fd, "first");
  expect_success(child);
  shows(fd, "first");
  CHECK(close(fd) == 0);
}

/* A file is written through one descriptor while it is mapped from another. */
static void while_it_changes(void) {
  int writer = open("uno", O_RDWR), fd = opened("uno");
  char* p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
  CHECK(writer >= 0 && p != MAP_FAILED && strcmp(p, "first") == 0);
  CHECK(pwrite(writer, "F", 1, 0) == 1);
  shows(fd, "First");
  CHECK(munmap(p, 4096) == 0 && close(writer) == 0 && close(fd) == 0);
}

static void in_shared_memory(void) {
  char name[64];
  snprintf(name, sizeof name, "/dev/shm/reweave-by-name-%d", getpid());
  make(name, "shared");
  CHECK(chdir("/dev/shm") == 0);
  int fd = opened(name + strlen("/dev/shm/"));
  shows(fd, "shared");
  CHECK(unlink(name) == 0 && close(fd) == 0);
}

/* A mapping and a read of the same open file must show the same bytes. */
static void shows_what_is_read(int fd) {
  char bytes[16] = {0};
  long n = pread(fd, bytes, sizeof bytes, 0);
  char* p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
  CHECK(n > 0 && p != MAP_FAILED && memcmp(p, bytes, (size_t)n) == 0 && munmap(p, 4096) == 0);
}

/* Files that do not change in this run, opened by names relative to their folder. */
static void older_than_the_run(void) {
  CHECK(chdir("/etc") == 0);
  int group = opened("group"), passwd = opened("passwd");
  shows_what_is_read(passwd);
  shows_what_is_read(group);
  CHECK(chdir("/") == 0 && dup2(group, passwd) == passwd);
  shows_what_is_read(passwd);
  CHECK(close(group) == 0 && opened("etc/passwd") == group);
  shows_what_is_read(group);
  pid_t child = fork();
  if (child == 0) {
    shows_what_is_read(group);
    CHECK(close(group) == 0 && opened("etc/group") == group);
    shows_what_is_read(group);
    _exit(0);
  }
  expect_success(child);
  shows_what_is_read(group);
  CHECK(close(group) == 0 && close(passwd) == 0);
}

int main(void) {
  char folder[] = "/tmp/reweave-by-name-XXXXXX";
  CHECK(mkdtemp(folder) != NULL && chdir(folder) == 0 && mkdir("below", 0700) == 0);
  make("one", "first");
  make("below/two", "second");
  under_names();
  under_numbers();
  in_a_child();
  while_it_changes();
  CHECK(unlink("uno") == 0 && unlink("below/two") == 0 && rmdir("below") == 0);
  in_shared_memory();
  older_than_the_run();
  CHECK(rmdir(folder) == 0);
  puts("as they were");
  return 0;
}
