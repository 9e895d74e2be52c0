/* Reads of a large file whose offset is moved between them in every possible way: each reads at the right place. */
#define _GNU_SOURCE
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "check.h"

enum { kWords = 1 << 20, kBytes = kWords * 4, kRead = 8192 };

static unsigned buffer[kRead / 4];
static long expected;

/* Reads twice in succession and checks that the data are those at offset `from`. */
static void reads_on(int fd, long from) {
  expected = from;
  for (int i = 0; i < 2; i++) {
    CHECK(read(fd, buffer, kRead) == kRead);
    for (long word = 0; word < kRead / 4; word++) CHECK(buffer[word] == (unsigned)(expected / 4 + word));
    expected += kRead;
  }
}

static void by_calls(int fd) {
  int sink = open("/dev/null", O_WRONLY), pipe_ends[2];
  struct iovec part = {buffer, 4096};
  CHECK(sink >= 0 && pipe(pipe_ends) == 0);
  CHECK(lseek(fd, 4096, SEEK_SET) == 4096);
  reads_on(fd, 4096);
  CHECK(readv(fd, &part, 1) == 4096);
  reads_on(fd, expected + 4096);
  CHECK(preadv2(fd, &part, 1, -1, 0) == 4096);
  reads_on(fd, expected + 4096);
  CHECK(pread(fd, buffer, kRead, 0) == kRead);
  reads_on(fd, expected);
  CHECK(sendfile(sink, fd, NULL, 4096) == 4096);
  reads_on(fd, expected + 4096);
  CHECK(splice(fd, NULL, pipe_ends[1], NULL, 4096, 0) == 4096);
  reads_on(fd, expected + 4096);
  CHECK(lseek(fd, -2 * kRead, SEEK_CUR) == expected - 2 * kRead);
  reads_on(fd, expected - 2 * kRead);
}

static void by_copies(int fd) {
  CHECK(lseek(fd, 0, SEEK_SET) == 0);
  reads_on(fd, 0);
  int copy = dup(fd);
  CHECK(copy >= 0);
  reads_on(copy, expected);
  reads_on(fd, expected);
  CHECK(close(copy) == 0);
  copy = fcntl(fd, F_DUPFD_CLOEXEC, 50);
  reads_on(copy, expected);
  reads_on(fd, expected);
  CHECK(close(copy) == 0);
}

static void by_another_file(int fd, const char* name) {
  long before = lseek(fd, 0, SEEK_CUR);
  int other = open(name, O_RDONLY), saved = dup(fd);
  CHECK(other >= 0 && saved >= 0 && dup2(other, fd) == fd);
  reads_on(fd, 0);
  CHECK(dup2(saved, fd) == fd);
  reads_on(fd, before);
  CHECK(close(fd) == 0 && open(name, O_RDONLY) == fd);
  reads_on(fd, 0);
}

static void by_a_child(int fd) {
  pid_t child = fork();
  if (child == 0) {
    reads_on(fd, expected);
    _exit(0);
  }
  expect_success(child);
  reads_on(fd, expected + 2 * kRead);
}

/* The descriptor is sent through a socket; the received one shares its offset. */
static void by_who_was_sent_it(int fd) {
  int ends[2];
  char byte = 0, control[CMSG_SPACE(sizeof(int))] = {0};
  struct iovec part = {&byte, 1};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  struct cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET, header->cmsg_type = SCM_RIGHTS, header->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(header), &fd, sizeof fd);
  CHECK(sendmsg(ends[0], &message, 0) == 1 && recvmsg(ends[1], &message, 0) == 1);
  int got;
  memcpy(&got, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof got);
  reads_on(got, expected);
  reads_on(fd, expected);
}

int main(void) {
  char name[] = "/tmp/reweave-offsets-XXXXXX";
  static unsigned words[kWords];
  int made = mkstemp(name);
  for (unsigned i = 0; i < kWords; i++) words[i] = i;
  CHECK(made >= 0 && write(made, words, kBytes) == kBytes && close(made) == 0);
  int fd = open(name, O_RDONLY);
  CHECK(fd >= 0);
  reads_on(fd, 0);
  by_calls(fd);
  by_copies(fd);
  by_another_file(fd, name);
  by_a_child(fd);
  by_who_was_sent_it(fd);
  CHECK(unlink(name) == 0);
  puts("as they were");
  return 0;
}
