/* Data that the kernel wrote before it reached an unmapped address stays written. While other threads live: a read
 * into a partly unmapped buffer takes nothing out of a pipe that it does not deliver, and a sleep that is not
 * interrupted writes no remaining time. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>

#include "check.h"

enum { kPage = 4096 };

static void* wait_for_end(void* pipe_end) {
  char byte;
  CHECK(read(*(int*)pipe_end, &byte, 1) == 0);
  return NULL;
}

static void some_written(char* edge) {
  struct timeval time = {0, 0};
  unsigned ids[1] = {0x5a5a5a5a}, cpu[1] = {0x5a5a5a5a}, header[2] = {1, 0};
  FAILS(syscall(SYS_gettimeofday, &time, 8), EFAULT);
  CHECK(time.tv_sec > 0);
  printf("%ld.%ld\n", (long)time.tv_sec, (long)time.tv_usec);
  FAILS(syscall(SYS_getresuid, ids, 8, 8), EFAULT);
  CHECK(ids[0] == getuid());
  FAILS(syscall(SYS_getcpu, cpu, 8), EFAULT);
  CHECK(cpu[0] < 0x5a5a5a5a);
  FAILS(syscall(SYS_capset, header, NULL), EINVAL); /* it stores the version that the kernel supports */
  CHECK(header[0] > 1);
  int pair[2] = {-1, -1};
  FAILS(syscall(SYS_socketpair, AF_INET, SOCK_STREAM, 0, pair), EOPNOTSUPP);
  printf("%d %d\n", pair[0], pair[1]); /* Linux stores the reserved numbers first */
  memset(edge - 16, 0x5a, 16);
  FAILS(syscall(SYS_fstat, 0, edge - 16), EFAULT);
  FAILS(syscall(SYS_getcwd, edge - 2, kPage), EFAULT);
  for (int i = -16; i < 0; i++) printf("%02x ", (unsigned char)edge[i]);
  puts("");
}

int main(void) {
  int ends[2], data[2];
  pthread_t other;
  char text[32] = "";
  CHECK(pipe(ends) == 0 && pipe2(data, O_NONBLOCK) == 0 && fcntl(data[0], F_SETFL, 0) == 0);
  CHECK(pthread_create(&other, NULL, wait_for_end, &ends[0]) == 0);
  char* edge = mmap(NULL, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(munmap(edge + kPage, kPage) == 0);
  some_written(edge + kPage);
  FAILS(read(data[0], (void*)(1UL << 63), 0), EFAULT);
  CHECK(write(data[1], "abcdefghij", 10) == 10);
  ssize_t got = read(data[0], edge + kPage - 4, 10);
  CHECK(got == -1 && errno == EFAULT);
  printf("%zd left\n", read(data[0], text, sizeof text));
  puts(text);
  struct timespec moment = {0, 1000};
  CHECK(nanosleep(&moment, (void*)8) == 0);
  CHECK(clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, (void*)8) == 0);
  CHECK(close(ends[1]) == 0 && pthread_join(other, NULL) == 0);
  return 0;
}
