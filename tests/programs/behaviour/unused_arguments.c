/* Calls with arguments that the kernel ignores. Their registers have a different content in each run. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/keyctl.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_long count;

/* Returns a number that differs between runs, because the schedule decides which thread counts first. */
static long left(void) { return 0x5a0000000 + atomic_fetch_add(&count, 1); }

static void check(int ok, const char* what) {
  if (ok) return;
  perror(what);
  exit(1);
}

__attribute__((constructor)) static void before_main(void) {
  int here;
  check(syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, &here) >= 0, "membarrier");
  check(syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, &here) == 0, "register");
}

static void files(void) {
  const int file = (int)syscall(SYS_open, "/dev/null", O_RDWR, left());
  check(file >= 0, "open");
  const int other = (int)syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY, left());
  check(other >= 0, "openat");
  check(syscall(SYS_fcntl, file, F_GETFL, left()) >= 0 && syscall(SYS_fcntl, file, F_GETFD, left()) >= 0, "fcntl");
  close(file);
  close(other);
}

static void messages(void) {
  int ends[2];
  char byte = 'x';
  check(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socketpair");
  check(syscall(SYS_sendto, ends[0], &byte, 1, 0, NULL, left()) == 1, "sendto");
  check(syscall(SYS_recvfrom, ends[1], &byte, 1, 0, NULL, left()) == 1 && byte == 'x', "recvfrom");
  close(ends[0]);
  close(ends[1]);
}

static void memory(void) {
  void* place = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  check(place != MAP_FAILED, "mmap");
  check((void*)syscall(SYS_mremap, place, 8192, 4096, 0, left()) == place, "mremap");
  check(munmap(place, 4096) == 0, "munmap");
}

static void others(void) {
  static int word;
  unsigned processor;
  check(syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, left()) == 0, "membarrier");
  check(syscall(SYS_getcpu, &processor, NULL, left()) == 0, "getcpu");
  check(syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, left(), left(), left()) == 0, "futex");
  check(syscall(SYS_prctl, PR_GET_DUMPABLE, left(), left(), left(), left()) >= 0, "prctl");
}

static void* work(void* argument) {
  for (int i = 0; i < 3; i++) {
    files();
    messages();
    memory();
    others();
  }
  return argument;
}

int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) check(pthread_create(&threads[i], NULL, work, NULL) == 0, "thread");
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  puts("ok");
  return 0;
}
