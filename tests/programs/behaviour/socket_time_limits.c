/* Calls on sockets with time limits end in time. They are not restarted after a handler, with or without
 * SA_RESTART. */
#define _GNU_SOURCE
#include <sys/socket.h>
#include <sys/time.h>
#include "check.h"

static volatile sig_atomic_t alarms;
static void on_alarm(int number, siginfo_t* info, void* context) {
  (void)number, (void)info, (void)context;
  alarms++;
}

/* Repeated, because the first alarm may come before the call that it should interrupt. */
static void start_alarms(void) {
  struct itimerval soon = {{0, 3000}, {0, 3000}};
  alarms = 0;
  CHECK(setitimer(ITIMER_REAL, &soon, NULL) == 0);
}

static void stop_alarms(void) {
  struct itimerval never = {{0, 0}, {0, 0}};
  CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0 && alarms > 0);
}

static void limit(int socket, long microseconds) {
  struct timeval time = {microseconds / 1000000, microseconds % 1000000};
  CHECK(setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time) == 0);
}

int main(void) {
  int ends[2];
  char byte;
  on_signal(SIGALRM, on_alarm, SA_RESTART);
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  limit(ends[0], 5000);
  FAILS(recv(ends[0], &byte, 1, 0), EAGAIN);
  limit(ends[0], 10000000);
  start_alarms();
  FAILS(recv(ends[0], &byte, 1, 0), EINTR);
  FAILS(read(ends[0], &byte, 1), EINTR);
  stop_alarms();
  limit(ends[0], 0);
  pid_t child = fork();
  if (child == 0) {
    usleep(20000);
    CHECK(write(ends[1], "x", 1) == 1);
    _exit(0);
  }
  start_alarms();
  CHECK(recv(ends[0], &byte, 1, 0) == 1 && byte == 'x');
  stop_alarms();
  expect_success(child);
  puts("limited");
  return 0;
}
