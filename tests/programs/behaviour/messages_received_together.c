/* recvmmsg waits for the requested number of messages, checks its time limit after each, and stores the time left.
 */
#define _GNU_SOURCE
#include <sys/socket.h>
#include <time.h>
#include "check.h"

enum { kMessages = 3 };
static char bytes[kMessages][8];
static struct iovec vectors[kMessages];
static struct mmsghdr messages[kMessages];

static void send_later(int socket, const char* text) {
  nanosleep(&(struct timespec){0, 30000000}, NULL);
  CHECK(send(socket, text, strlen(text), 0) == (ssize_t)strlen(text));
}

int main(void) {
  int pair[2];
  CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0);
  for (int i = 0; i < kMessages; i++) {
    vectors[i] = (struct iovec){bytes[i], sizeof bytes[i]};
    messages[i].msg_hdr = (struct msghdr){.msg_iov = &vectors[i], .msg_iovlen = 1};
  }
  const pid_t child = fork();
  if (child == 0) {
    send_later(pair[1], "one");
    send_later(pair[1], "two");
    send_later(pair[1], "three");
    send_later(pair[1], "late");
    _exit(0);
  }
  CHECK(recvmmsg(pair[0], messages, kMessages, 0, NULL) == kMessages);
  for (int i = 0; i < kMessages; i++) printf("%.*s\n", (int)messages[i].msg_len, bytes[i]);
  struct timespec limit = {0, 1000000};
  CHECK(recvmmsg(pair[0], messages, kMessages, 0, &limit) == 1 && limit.tv_sec == 0 && limit.tv_nsec == 0);
  expect_success(child);
  CHECK(send(pair[1], "last", 4, 0) == 4);
  limit = (struct timespec){1000, 0};
  CHECK(recvmmsg(pair[0], messages, kMessages, MSG_WAITFORONE, &limit) == 1);
  CHECK(limit.tv_sec == 999);
  printf("%ld\n", limit.tv_nsec);
  limit.tv_nsec = -1;
  FAILS(recvmmsg(pair[0], messages, 1, MSG_DONTWAIT, &limit), EINVAL);
  return 0;
}
