/* An accepted connection inherits the listening socket's time limit. So even a handler with SA_RESTART ends calls. */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include "check.h"

static volatile int handled;

static void count(int number, siginfo_t* info, void* context) {
  (void)number, (void)info, (void)context;
  handled++;
}

int main(void) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t bytes = sizeof address;
  const struct timeval limit = {20, 0};
  char byte;
  CHECK(bind(listener, (struct sockaddr*)&address, bytes) == 0 && listen(listener, 1) == 0);
  CHECK(getsockname(listener, (struct sockaddr*)&address, &bytes) == 0);
  CHECK(setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);
  CHECK(connect(client, (struct sockaddr*)&address, bytes) == 0);
  const int server = accept(listener, NULL, NULL);
  CHECK(server >= 0);
  on_signal(SIGALRM, count, SA_RESTART);
  CHECK(setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 20000}}, NULL) == 0);
  FAILS(read(server, &byte, 1), EINTR);
  CHECK(handled == 1);
  puts("interrupted");
  return 0;
}
