/* Calls that fail, or end early, after part of their work: the changes made so far remain. */
#define _GNU_SOURCE
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include "faults.h"

enum { kPage = 4096, kPages = 8, kMseal = 462 };

/* Returns memory filled with `fill`, with all of its pages present. */
static char* pages(char fill) {
  char* memory = mmap(NULL, kPages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(memory != MAP_FAILED);
  memset(memory, fill, kPages * kPage);
  return memory;
}

static void show(const char* what, long result, const char* memory) {
  printf("%s: %ld, %s:", what, result, result < 0 ? strerror(errno) : "");
  for (int i = 0; i < kPages; i++) printf(" %d", memory[i * kPage]);
  puts("");
}

static void locked(int advice, int first) {
  char* memory = pages('l');
  CHECK(mlock(memory + first * kPage, kPage) == 0);
  const int result = madvise(memory, kPages * kPage, advice);
  show("locked", result, memory);
}

static void locked_behind_hole(void) {
  char* memory = pages('h');
  CHECK(mlock(memory + 5 * kPage, kPage) == 0 && munmap(memory + 2 * kPage, kPage) == 0);
  const int result = madvise(memory, kPages * kPage, MADV_DONTNEED);
  const int error = errno;
  CHECK(mmap(memory + 2 * kPage, kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED);
  errno = error;
  show("hole", result, memory);
}

/* A file's pages are removed up to a private mapping. */
static void removed(void) {
  const int file = memfd_create("removed", 0);
  CHECK(ftruncate(file, kPages * kPage) == 0);
  char* memory = mmap(NULL, kPages * kPage, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  memset(memory, 'r', kPages * kPage);
  CHECK(mmap(memory + 3 * kPage, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, file, 3 * kPage) !=
        MAP_FAILED);
  const int result = madvise(memory, kPages * kPage, MADV_REMOVE);
  show("removed", result, memory);
}

static void not_inherited(void) {
  char* memory = pages('i');
  CHECK(munmap(memory + 7 * kPage, kPage) == 0);
  CHECK(mmap(memory + 7 * kPage, kPage, PROT_READ, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED);
  const int result = madvise(memory, kPages * kPage, MADV_WIPEONFORK); /* fails for shared memory */
  printf("wiped: %d, %d\n", result, errno);
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    show("child", 0, memory);
    exit(0);
  }
  expect_success(child);
}

static void several_ranges(void) {
  char* memory = pages('s');
  CHECK(mlock(memory + 5 * kPage, kPage) == 0);
  const struct iovec ranges[] = {{memory, kPage}, {memory + 3 * kPage, 5 * kPage}};
  const int self = (int)syscall(SYS_pidfd_open, getpid(), 0);
  const long result = syscall(SYS_process_madvise, self, ranges, 2, MADV_DONTNEED, 0);
  show("ranges", result, memory);
  const long second = syscall(SYS_process_madvise, self, ranges + 1, 1, MADV_DONTNEED, 0);
  show("second", second, memory);
  close(self);
}

static void protection(void) {
  char* memory = pages('p');
  CHECK(munmap(memory + 3 * kPage, kPage) == 0);
  FAILS(mprotect(memory, kPages * kPage, PROT_READ), ENOMEM);
  printf("hole: %d %d %d\n", faults_when_written(memory), faults_when_written(memory + 2 * kPage),
         faults_when_written(memory + 4 * kPage));
  memory = pages('q');
  if (syscall(kMseal, memory + 2 * kPage, kPage, 0) != 0) return; /* an older kernel */
  FAILS(mprotect(memory, kPages * kPage, PROT_READ), EPERM);
  printf("sealed: %d %d %d\n", faults_when_written(memory), faults_when_written(memory + kPage),
         faults_when_written(memory + 2 * kPage));
  FAILS(madvise(memory, kPages * kPage, 77), EINVAL);
  FAILS(munmap(memory, kPages * kPage), EPERM);
  CHECK(memory[0] == 'q');
}

/* The message arrives, but its sender's name cannot be stored. */
static void receives_without_name(void) {
  int ends[2];
  char text[20] = "----------";
  CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0);
  const struct sockaddr_un name = {AF_UNIX, "\0reweave-partly-done"};
  CHECK(bind(ends[1], (const struct sockaddr*)&name, sizeof name) == 0 || errno == EADDRINUSE);
  struct iovec part = {text, sizeof text};
  struct msghdr message = {.msg_name = (void*)8, .msg_namelen = 100, .msg_iov = &part, .msg_iovlen = 1};
  CHECK(send(ends[1], "first", 5, 0) == 5);
  FAILS(recvmsg(ends[0], &message, 0), EFAULT);
  printf("%.10s\n", text);
  socklen_t length = 100;
  CHECK(send(ends[1], "second", 6, 0) == 6);
  FAILS(recvfrom(ends[0], text, sizeof text, 0, (struct sockaddr*)8, &length), EFAULT);
  printf("%.10s\n", text);
  struct mmsghdr many[2] = {{.msg_hdr = message}, {.msg_hdr = message}};
  CHECK(send(ends[1], "third", 5, 0) == 5);
  FAILS(recvmmsg(ends[0], many, 2, MSG_DONTWAIT, NULL), EFAULT);
  printf("%.10s\n", text);
}

static void message_without_room(void) {
  char* memory = pages('m');
  CHECK(munmap(memory + kPage, kPage) == 0);
  char* room = memory + kPage - 16;
  const int queue = msgget(IPC_PRIVATE, 0600);
  struct {
    long type;
    char text[100];
  } message = {5, {0}};
  memset(message.text, 't', sizeof message.text);
  CHECK(queue >= 0 && msgsnd(queue, &message, sizeof message.text, 0) == 0);
  FAILS(msgrcv(queue, room, sizeof message.text, 0, 0), EFAULT);
  printf("%ld %.8s\n", *(long*)(void*)room, room + 8);
  CHECK(msgctl(queue, IPC_RMID, NULL) == 0);
}

static void pages_told(void) {
  char* memory = pages('t');
  CHECK(munmap(memory + 4 * kPage, kPage) == 0);
  unsigned char present[kPages] = {9, 9, 9, 9, 9, 9, 9, 9};
  FAILS(mincore(memory, kPages * kPage, present), ENOMEM);
  for (int i = 0; i < kPages; i++) printf("%d ", present[i] & 9);
  void* list[40];
  int status[40];
  for (int i = 0; i < 40; i++) list[i] = memory + i % 4 * kPage, status[i] = 77;
  const long result = syscall(SYS_move_pages, 0, 40, list, NULL, status, 0);
  printf("%ld %d %d\n", result, status[0], status[39]);
  char* edge = memory + 4 * kPage - 20 * sizeof(void*); /* the second half of the list is unmapped */
  for (int i = 0; i < 40; i++) status[i] = 77;
  memcpy(edge, list, 20 * sizeof(void*));
  errno = 0;
  const long partly = syscall(SYS_move_pages, 0, 40, edge, NULL, status, 0);
  printf("%ld %d %d %d\n", partly, errno, status[0], status[39]);
}

/* Version 1 has half the data of later versions. Here the data end where mapped memory ends. */
static void capabilities(void) {
  char* memory = pages(0);
  CHECK(munmap(memory + kPage, kPage) == 0);
  uint32_t header[2] = {0x19980330, 0};
  uint32_t* data = (uint32_t*)(void*)(memory + kPage - 12);
  CHECK(syscall(SYS_capget, header, data) == 0 && syscall(SYS_capset, header, data) == 0);
  printf("%08x %08x %08x\n", data[0], data[1], data[2]);
  header[0] = 1;
  FAILS(syscall(SYS_capget, header, data), EINVAL);
  printf("version %x\n", header[0]);
  header[0] = 1;
  CHECK(syscall(SYS_capget, header, NULL) == 0);
  header[0] = 1;
  FAILS(syscall(SYS_capset, header, data), EINVAL);
  printf("version %x\n", header[0]);
  FAILS(syscall(SYS_capget, header, memory + kPage - 12), EFAULT); /* both halves */
}

static void vectors(void) {
  int ends[2];
  char* memory = pages('v');
  CHECK(munmap(memory + kPage, kPage) == 0 && pipe(ends) == 0 && write(ends[1], "0123456789abcdef", 16) == 16);
  const struct iovec parts[] = {{memory, 4}, {memory + kPage - 4, 8}, {memory + 2 * kPage, 4}};
  const long n = readv(ends[0], parts, 3);
  printf("%ld %.4s %.4s\n", n, memory, memory + kPage - 4);
  struct iovec remote[] = {{memory, 4}, {memory + kPage, 4}}, local = {memory + 3 * kPage, 8};
  printf("%ld %.4s\n", (long)process_vm_readv(getpid(), &local, 1, remote, 2, 0), memory + 3 * kPage);
}

int main(void) {
  catch_faults();
  locked(MADV_DONTNEED, 1);
  locked(MADV_DONTNEED, 0);
  locked(MADV_DONTNEED, 7);
  locked(MADV_PAGEOUT, 2);
  locked_behind_hole();
  removed();
  not_inherited();
  several_ranges();
  protection();
  receives_without_name();
  message_without_room();
  pages_told();
  capabilities();
  vectors();
  return 0;
}
