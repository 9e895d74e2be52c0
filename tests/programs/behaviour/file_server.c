/* A file system that a process of the tree serves (FUSE): every call on its files waits for that process. */
#define _GNU_SOURCE
#include <dirent.h>
#include <linux/fuse.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>

#include "check.h"

enum { kFile = 2 };
static int server;
static char contents[16] = "served";
static uint64_t size = 6;

static void answer(uint64_t request, int error, const void* bytes, size_t count) {
  static char buffer[4096];
  struct fuse_out_header header = {(uint32_t)(sizeof header + count), error, request};
  memcpy(buffer, &header, sizeof header);
  memcpy(buffer + sizeof header, bytes, count);
  CHECK(write(server, buffer, header.len) == (ssize_t)header.len);
}

static struct fuse_attr attributes_of(uint64_t node) {
  struct fuse_attr result = {.ino = node, .nlink = 1, .mode = node == kFile ? S_IFREG | 0644 : S_IFDIR | 0755};
  result.size = node == kFile ? size : 0;
  return result;
}

static int serve(const struct fuse_in_header* in, const void* body) {
  struct fuse_entry_out entry = {.nodeid = kFile, .attr = attributes_of(kFile)};
  struct fuse_attr_out attributes = {.attr = attributes_of(in->nodeid)};
  struct fuse_open_out opened = {.open_flags = FOPEN_DIRECT_IO};
  struct fuse_init_out greeting = {.major = FUSE_KERNEL_VERSION, .minor = FUSE_KERNEL_MINOR_VERSION};
  const struct fuse_read_in* read_in = body;
  const struct fuse_write_in* write_in = body;
  const struct fuse_setattr_in* set = body;
  struct fuse_write_out written = {0};
  uint64_t left;
  switch (in->opcode) {
    case FUSE_INIT:
      greeting.max_write = 4096;
      answer(in->unique, 0, &greeting, sizeof greeting);
      return 1;
    case FUSE_LOOKUP:
      answer(in->unique, strcmp(body, "file") == 0 ? 0 : -ENOENT, &entry, strcmp(body, "file") == 0 ? sizeof entry : 0);
      return 1;
    case FUSE_SETATTR:
      if ((set->valid & FATTR_SIZE) != 0) size = attributes.attr.size = set->size;
      answer(in->unique, 0, &attributes, sizeof attributes);
      return 1;
    case FUSE_GETATTR:
      answer(in->unique, 0, &attributes, sizeof attributes);
      return 1;
    case FUSE_OPEN:
    case FUSE_OPENDIR:
      answer(in->unique, 0, &opened, sizeof opened);
      return 1;
    case FUSE_READ:
      left = read_in->offset < size ? size - read_in->offset : 0;
      answer(in->unique, 0, contents + read_in->offset, left < read_in->size ? left : read_in->size);
      return 1;
    case FUSE_WRITE:
      memcpy(contents + write_in->offset, write_in + 1, write_in->size);
      size = write_in->offset + write_in->size;
      written.size = write_in->size;
      answer(in->unique, 0, &written, sizeof written);
      return 1;
    case FUSE_READDIR:
    case FUSE_READDIRPLUS:
    case FUSE_FLUSH:
    case FUSE_FSYNC:
    case FUSE_RELEASE:
    case FUSE_RELEASEDIR:
    case FUSE_ACCESS:
      answer(in->unique, 0, NULL, 0);
      return 1;
    case FUSE_FORGET:
    case FUSE_INTERRUPT:
      return 1;
    case FUSE_DESTROY:
      return 0;
    default:
      answer(in->unique, -ENOSYS, NULL, 0);
      return 1;
  }
}

static void serve_all(void) {
  static char request[FUSE_MIN_READ_BUFFER + 4096];
  const struct fuse_in_header* in = (const struct fuse_in_header*)request;
  for (ssize_t n; (n = read(server, request, sizeof request)) >= 0 || errno == EINTR;)
    if (n > 0 && !serve(in, in + 1)) break;
  _exit(0);
}

static void use(const char* folder) {
  char bytes[16] = "", options[8], path[64];
  struct stat status;
  DIR* listing = opendir(folder);
  CHECK(listing != NULL && readdir(listing) == NULL && closedir(listing) == 0);
  snprintf(path, sizeof path, "%s/file", folder);
  CHECK(stat(path, &status) == 0 && status.st_size == 6 && access(path, R_OK) == 0);
  int fd = open(path, O_RDWR);
  CHECK(fd >= 0 && fstat(fd, &status) == 0 && status.st_ino == kFile);
  CHECK(read(fd, bytes, sizeof bytes) == 6 && strcmp(bytes, "served") == 0);
  CHECK(pwrite(fd, "anew", 4, 0) == 4 && fsync(fd) == 0 && ftruncate(fd, 3) == 0);
  CHECK(pread(fd, bytes, sizeof bytes, 0) == 3 && memcmp(bytes, "ane", 3) == 0);
  CHECK(getxattr(path, "user.none", options, sizeof options) == -1 && errno == EOPNOTSUPP);
  int other = open(path, O_RDONLY | O_NONBLOCK);
  CHECK(other >= 0 && read(other, bytes, 2) == 2 && close(other) == 0);
  CHECK(close(fd) == 0 && truncate(path, 5) == 0 && stat(path, &status) == 0 && status.st_size == 5);
  CHECK(unlink(path) == -1 && errno == ENOSYS);
}

/* Returns false if this machine does not allow it. */
static int mount_it(const char* folder) {
  char options[64];
  if (unshare(CLONE_NEWNS) != 0) return 0;
  if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) return 0;
  server = open("/dev/fuse", O_RDWR | O_CLOEXEC);
  if (server < 0) return 0;
  snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0", server);
  return mount("served", folder, "fuse", 0, options) == 0;
}

int main(void) {
  char folder[] = "/tmp/reweave-served-XXXXXX";
  alarm(30);
  CHECK(mkdtemp(folder) != NULL);
  pid_t whole = fork();
  if (whole == 0) {
    if (!mount_it(folder)) _exit(0);
    pid_t child = fork();
    if (child == 0) serve_all();
    use(folder);
    CHECK(umount(folder) == 0);
    expect_success(child);
    _exit(0);
  }
  expect_success(whole);
  CHECK(rmdir(folder) == 0);
  puts("served");
  return 0;
}
