// sendfile(2) to a full socket waits until another thread reads. Meanwhile other threads run, including the reader, and
// a signal ends the wait.
#include <pthread.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "check.h"

enum { BYTES = 4 << 20 };

static int ends[2];

static void* reader(void* unused) {
  static char buffer[1 << 16];
  unsigned long sum = 0, all = 0;
  for (ssize_t n; (n = read(ends[1], buffer, sizeof buffer)) > 0; all += (unsigned long)n)
    for (ssize_t i = 0; i < n; i++) sum = sum * 31 + (unsigned char)buffer[i];
  printf("read %lu, %lx\n", all, sum);
  return unused;
}

static int big_file(void) {
  static char text[BYTES];
  for (int i = 0; i < BYTES; i++) text[i] = (char)(i * 7 + i / 251);
  FILE* file = tmpfile();
  CHECK(file != NULL);
  CHECK(write(fileno(file), text, BYTES) == BYTES);
  return fileno(file);
}

static void on_alarm(int number) { (void)number; }

// No thread reads, so the socket becomes full.
static void interrupted(int file) {
  struct sigaction action = {.sa_handler = on_alarm};
  CHECK(sigaction(SIGALRM, &action, NULL) == 0);
  const struct itimerval often = {{0, 20000}, {0, 20000}}, never = {{0, 0}, {0, 0}};
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0);
  off_t offset = 0;
  ssize_t sent, all = 0;
  while ((sent = sendfile(ends[0], file, &offset, BYTES)) > 0) all += sent;
  CHECK(sent == -1 && errno == EINTR && offset == all && all < BYTES);
  CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0);
  CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);
}

int main(void) {
  const int file = big_file();
  pthread_t thread;
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  CHECK(pthread_create(&thread, NULL, reader, NULL) == 0);
  off_t offset = 1000;
  while (offset < BYTES) CHECK(sendfile(ends[0], file, &offset, BYTES) > 0);
  CHECK(close(ends[0]) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(close(ends[1]) == 0);
  interrupted(file);
  return 0;
}
