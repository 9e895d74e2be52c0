/* Receives that return at once although there is no data, and although another thread could send some: from the error
 * queue, of urgent data, with a time limit, from a file that is not a socket, or from a socket without a peer. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <linux/errqueue.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/time.h>
#include "check.h"

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static char bytes[16], control[256];
static struct iovec vector = {bytes, sizeof bytes};
static struct sockaddr_in here = {.sin_family = AF_INET};

static void* waits(void* unused) {
  pthread_mutex_lock(&held);
  pthread_mutex_unlock(&held);
  return unused;
}

static ssize_t receive(int fd, int flags) {
  struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1, .msg_control = control, .msg_controllen = 256};
  return recvmsg(fd, &message, flags);
}

static ssize_t receive_many(int fd, int flags) {
  struct mmsghdr messages[2];
  for (int i = 0; i < 2; i++) messages[i].msg_hdr = (struct msghdr){.msg_iov = &vector, .msg_iovlen = 1};
  return recvmmsg(fd, messages, 2, flags, NULL);
}

/* Creates a listening TCP socket. Sets `here` to its address, at which no datagram socket listens. */
static int listen_here(void) {
  socklen_t length = sizeof here;
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  CHECK(bind(fd, (struct sockaddr*)&here, length) == 0 && listen(fd, 3) == 0);
  CHECK(getsockname(fd, (struct sockaddr*)&here, &length) == 0);
  return fd;
}

static void errors(void) {
  const int fd = socket(AF_INET, SOCK_DGRAM, 0);
  FAILS(receive(fd, MSG_ERRQUEUE), EAGAIN);
  FAILS(receive_many(fd, MSG_ERRQUEUE), EAGAIN);
  FAILS(recvfrom(fd, bytes, sizeof bytes, MSG_ERRQUEUE, NULL, NULL), EAGAIN);
  CHECK(setsockopt(fd, IPPROTO_IP, IP_RECVERR, &(int){1}, sizeof(int)) == 0);
  /* no datagram socket has that port, so the refusal arrives in the error queue */
  CHECK(sendto(fd, "hello", 5, 0, (struct sockaddr*)&here, sizeof here) == 5);
  CHECK(receive(fd, MSG_ERRQUEUE) == 5 && memcmp(bytes, "hello", 5) == 0);
  const struct cmsghdr* head = (const struct cmsghdr*)control;
  const struct sock_extended_err* error = (const struct sock_extended_err*)CMSG_DATA(head);
  CHECK(head->cmsg_type == IP_RECVERR && error->ee_errno == ECONNREFUSED);
  FAILS(receive(fd, MSG_ERRQUEUE), EAGAIN);
  close(fd);
}

static void urgent(int listener) {
  const int from = socket(AF_INET, SOCK_STREAM, 0);
  CHECK(connect(from, (struct sockaddr*)&here, sizeof here) == 0);
  const int to = accept(listener, NULL, NULL);
  CHECK(to >= 0);
  FAILS(receive(to, MSG_OOB), EINVAL);
  FAILS(receive_many(to, MSG_OOB), EINVAL);
  FAILS(recv(to, bytes, 1, MSG_OOB), EINVAL);
  CHECK(send(from, "U", 1, MSG_OOB) == 1);
  struct pollfd ready = {to, POLLPRI, 0};
  CHECK(poll(&ready, 1, -1) == 1);
  CHECK(receive(to, MSG_OOB) == 1 && bytes[0] == 'U');
  FAILS(receive(to, MSG_OOB), EINVAL);
  const struct timeval limit = {0, 20000};
  CHECK(setsockopt(to, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);
  FAILS(receive(to, 0), EAGAIN);
  FAILS(receive_many(to, 0), EAGAIN);
  CHECK(send(from, "plain", 5, 0) == 5 && receive(to, MSG_WAITALL | MSG_PEEK) == 5);
  CHECK(receive(to, 0) == 5 && memcmp(bytes, "plain", 5) == 0);
}

int main(void) {
  pthread_t thread;
  pthread_mutex_lock(&held);
  CHECK(pthread_create(&thread, NULL, waits, NULL) == 0);
  const int listener = listen_here();
  errors();
  urgent(listener);
  FAILS(receive(listener, 0), ENOTCONN);
  int ends[2];
  CHECK(pipe(ends) == 0);
  FAILS(receive(ends[0], 0), ENOTSOCK);
  FAILS(receive_many(ends[0], 0), ENOTSOCK);
  pthread_mutex_unlock(&held);
  pthread_join(thread, NULL);
  puts("never waited");
  return 0;
}
