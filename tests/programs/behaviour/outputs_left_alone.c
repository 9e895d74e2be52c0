/* Output that a sleeping call does not write stays unchanged: that of a wait without a result, and the fields of
 * siginfo_t that wait does not fill in. The second thread makes calls that may sleep do so while other threads
 * run. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/resource.h>

#include "check.h"

static int ends[2];

static void* reader(void* unused) {
  char byte;
  CHECK(read(ends[0], &byte, 1) == 1);
  return unused;
}

static int is_filled(const void* with, int value, size_t bytes) {
  const unsigned char* p = with;
  for (size_t i = 0; i < bytes; i++)
    if (p[i] != value) return 0;
  return 1;
}

int main(void) {
  pthread_t thread;
  struct rusage usage, before;
  siginfo_t info;
  int held[2];
  CHECK(pipe(ends) == 0 && pipe(held) == 0 && pthread_create(&thread, NULL, reader, NULL) == 0);
  pid_t child = fork();
  if (child == 0) {
    char byte;
    _exit(read(held[0], &byte, 1) == 1 ? 42 : 1);
  }
  CHECK(wait4(-1, NULL, WNOHANG, &before) == 0 && getrusage(RUSAGE_SELF, &before) == 0);
  int status = 0x5a5a5a5a;
  memset(&usage, 0x5a, sizeof usage);
  CHECK(wait4(child, &status, WNOHANG, &usage) == 0);
  CHECK(is_filled(&usage, 0x5a, sizeof usage) && status == 0x5a5a5a5a);
  CHECK(syscall(SYS_wait4, child, 8, WNOHANG, 16) == 0); /* bad addresses, to which nothing is written */
  CHECK(syscall(SYS_waitid, P_PID, child, &info, WNOHANG | WEXITED, &usage) == 0 && info.si_pid == 0);
  CHECK(is_filled(&usage, 0x5a, sizeof usage));
  CHECK(write(held[1], "x", 1) == 1);
  memset(&info, 0x5a, sizeof info);
  CHECK(syscall(SYS_waitid, P_PID, child, &info, WEXITED, &usage) == 0);
  CHECK(info.si_status == 42 && is_filled(&info.si_utime, 0x5a, 16));
  CHECK(write(ends[1], "x", 1) == 1 && pthread_join(thread, NULL) == 0);
  puts("left alone");
  return 0;
}
