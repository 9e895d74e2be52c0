/* Data received into the very vector or message header that says where to put it. The kernel reads that first. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include "check.h"

static const char kText[] = "0123456789abcdefghijklmnopqrstuvwxyz";
static struct iovec vector[3];
static char behind[8];
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

static void* waits(void* unused) {
  pthread_mutex_lock(&held);
  pthread_mutex_unlock(&held);
  return unused;
}

/* The first 16 bytes that arrive overwrite entry 0, which describes them. Entry 1 says where the rest goes. */
static struct iovec* own(void) {
  memset(vector, 0, sizeof vector);
  memset(behind, 0, sizeof behind);
  vector[0] = (struct iovec){vector, 16};
  vector[1] = (struct iovec){behind, 4};
  return vector;
}

static void arrived(const char* how, ssize_t bytes) {
  CHECK(bytes == 20 && memcmp(vector, kText, 16) == 0 && memcmp(behind, kText + 16, 4) == 0);
  printf("%s %.16s %.4s\n", how, (const char*)vector, behind);
}

static void through_files(void) {
  const int file = memfd_create("text", 0);
  int ends[2];
  CHECK(file >= 0 && pipe(ends) == 0 && write(file, kText, 36) == 36);
  arrived("preadv", preadv(file, own(), 2, 0));
  arrived("preadv2", preadv2(file, own(), 2, 0, 0));
  CHECK(lseek(file, 0, SEEK_SET) == 0);
  arrived("readv", readv(file, own(), 2));
  CHECK(write(ends[1], kText, 20) == 20);
  arrived("readv of a pipe", readv(ends[0], own(), 2));
  CHECK(write(ends[1], kText, 20) == 20);
  arrived("vmsplice", vmsplice(ends[0], own(), 2, 0));
  const struct iovec from = {(void*)kText, 20};
  arrived("process_vm_readv", process_vm_readv(getpid(), own(), 2, &from, 1, 0));
  close(file);
}

static void through_messages(void) {
  int pair[2];
  CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0);
  struct msghdr message = {.msg_iov = own(), .msg_iovlen = 2};
  CHECK(send(pair[1], kText, 20, 0) == 20);
  arrived("recvmsg", recvmsg(pair[0], &message, 0));
  struct mmsghdr many[1];
  many[0].msg_hdr = (struct msghdr){.msg_iov = own(), .msg_iovlen = 2};
  CHECK(send(pair[1], kText, 20, 0) == 20);
  CHECK(recvmmsg(pair[0], many, 1, 0, NULL) == 1);
  arrived("recvmmsg", many[0].msg_len);
  /* into the header itself: the kernel stores its results there after the data */
  struct iovec at_header = {&message, sizeof message};
  message = (struct msghdr){.msg_iov = &at_header, .msg_iovlen = 1};
  char longer[sizeof message];
  memset(longer, 'h', sizeof longer);
  CHECK(send(pair[1], longer, sizeof longer, 0) == sizeof longer);
  CHECK(recvmsg(pair[0], &message, 0) == sizeof longer);
  CHECK(message.msg_controllen == 0 && message.msg_flags == 0 && memcmp(&message.msg_iov, longer, 16) == 0);
}

int main(void) {
  through_files();
  through_messages();
  pthread_t thread;
  pthread_mutex_lock(&held);
  CHECK(pthread_create(&thread, NULL, waits, NULL) == 0);
  through_files();
  through_messages();
  pthread_mutex_unlock(&held);
  pthread_join(thread, NULL);
  return 0;
}
