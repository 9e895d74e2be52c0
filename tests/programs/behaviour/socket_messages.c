/* Ancillary data, many messages at once, options, addresses, unix and loopback sockets of each type. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include "check.h"

static void pass_descriptor(void) {
  int pair[2], ends[2];
  char byte = 'd', control[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0 && pipe(ends) == 0);
  CHECK(setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &(int){1}, sizeof(int)) == 0);
  struct iovec part = {&byte, 1};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = CMSG_SPACE(sizeof(int))};
  memset(control, 0, sizeof control);
  struct cmsghdr* c = CMSG_FIRSTHDR(&message);
  c->cmsg_level = SOL_SOCKET, c->cmsg_type = SCM_RIGHTS, c->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(c), &ends[1], sizeof(int));
  pid_t child = fork();
  if (child == 0) {
    CHECK(sendmsg(pair[1], &message, 0) == 1);
    _exit(0);
  }
  message.msg_controllen = sizeof control;
  CHECK(recvmsg(pair[0], &message, MSG_CMSG_CLOEXEC) == 1 && byte == 'd');
  int passed = -1, creds = 0;
  for (c = CMSG_FIRSTHDR(&message); c != NULL; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_type == SCM_RIGHTS) memcpy(&passed, CMSG_DATA(c), sizeof(int));
    if (c->cmsg_type == SCM_CREDENTIALS) creds = ((struct ucred*)CMSG_DATA(c))->pid == child;
  }
  CHECK(passed >= 0 && creds && (fcntl(passed, F_GETFD) & FD_CLOEXEC));
  CHECK(write(passed, "p", 1) == 1 && read(ends[0], &byte, 1) == 1 && byte == 'p');
  expect_success(child);
}

static void many_messages(void) {
  int pair[2];
  char out[4][8] = {"one", "two", "three", "four"}, in[6][8];
  struct iovec out_parts[4], in_parts[6];
  struct mmsghdr sent[4], got[6];
  memset(sent, 0, sizeof sent), memset(got, 0, sizeof got), memset(in, 0, sizeof in);
  CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0);
  for (int i = 0; i < 4; i++) {
    out_parts[i] = (struct iovec){out[i], strlen(out[i])};
    sent[i].msg_hdr.msg_iov = &out_parts[i], sent[i].msg_hdr.msg_iovlen = 1;
  }
  for (int i = 0; i < 6; i++) {
    in_parts[i] = (struct iovec){in[i], 8};
    got[i].msg_hdr.msg_iov = &in_parts[i], got[i].msg_hdr.msg_iovlen = 1;
  }
  CHECK(sendmmsg(pair[0], sent, 4, 0) == 4 && sent[2].msg_len == 5);
  CHECK(recvmmsg(pair[1], got, 6, MSG_WAITFORONE, NULL) == 4);
  for (int i = 0; i < 4; i++) CHECK(got[i].msg_len == strlen(out[i]) && strcmp(in[i], out[i]) == 0);
  FAILS(recvmmsg(pair[1], got, 6, MSG_DONTWAIT, NULL), EAGAIN);
  CHECK(send(pair[0], "too long for it", 15, 0) == 15);
  CHECK(recv(pair[1], in[0], 4, MSG_PEEK | MSG_TRUNC) == 15 && recv(pair[1], in[0], 4, MSG_TRUNC) == 15);
}

static struct sockaddr_in local;
static void* connects(void* arg) {
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  char text[64];
  CHECK(connect(fd, (struct sockaddr*)&local, sizeof local) == 0 && send(fd, "question", 8, MSG_NOSIGNAL) == 8);
  CHECK(shutdown(fd, SHUT_WR) == 0 && recv(fd, text, 6, MSG_WAITALL) == 6 && memcmp(text, "answer", 6) == 0);
  close(fd);
  return arg;
}

static void over_tcp(void) {
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), value = 0;
  socklen_t length = sizeof local;
  struct sockaddr_in peer, seen;
  struct linger linger = {1, 3};
  struct timeval patience = {0, 20000};
  char text[64];
  local = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  CHECK(setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int)) == 0);
  CHECK(bind(listener, (struct sockaddr*)&local, sizeof local) == 0 && listen(listener, 5) == 0);
  CHECK(getsockname(listener, (struct sockaddr*)&local, &length) == 0 && local.sin_port != 0);
  FAILS(accept4(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), NULL, NULL, 0), EINVAL);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, connects, NULL) == 0);
  length = sizeof peer;
  int fd = accept4(listener, (struct sockaddr*)&peer, &length, SOCK_CLOEXEC);
  CHECK(fd >= 0 && length == sizeof peer && peer.sin_addr.s_addr == htonl(INADDR_LOOPBACK));
  length = sizeof seen;
  CHECK(getpeername(fd, (struct sockaddr*)&seen, &length) == 0 && seen.sin_port == peer.sin_port);
  CHECK(recv(fd, text, sizeof text, 0) == 8 && memcmp(text, "question", 8) == 0 && recv(fd, text, sizeof text, 0) == 0);
  CHECK(send(fd, "answer", 6, 0) == 6);
  length = sizeof value;
  CHECK(getsockopt(fd, SOL_SOCKET, SO_ERROR, &value, &length) == 0 && value == 0 && length == 4);
  CHECK(getsockopt(fd, SOL_SOCKET, SO_TYPE, &value, &length) == 0 && value == SOCK_STREAM);
  CHECK(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int)) == 0);
  CHECK(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger) == 0);
  memset(&linger, 0, sizeof linger), length = sizeof linger;
  CHECK(getsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, &length) == 0 && linger.l_linger == 3 &&
        length == sizeof linger);
  struct tcp_info info;
  length = sizeof info;
  CHECK(getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) == 0 && length > 100);
  CHECK(pthread_join(thread, NULL) == 0 && close(fd) == 0);
  int quiet = socket(AF_INET, SOCK_DGRAM, 0);
  local.sin_port = 0;
  CHECK(bind(quiet, (struct sockaddr*)&local, sizeof local) == 0);
  CHECK(setsockopt(quiet, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) == 0);
  length = sizeof peer;
  FAILS(recvfrom(quiet, text, sizeof text, 0, (struct sockaddr*)&peer, &length), EAGAIN);
  length = sizeof local;
  CHECK(getsockname(quiet, (struct sockaddr*)&local, &length) == 0);
  CHECK(sendto(quiet, "self", 4, 0, (struct sockaddr*)&local, sizeof local) == 4);
  CHECK(recvfrom(quiet, text, sizeof text, 0, (struct sockaddr*)&peer, &length) == 4 &&
        peer.sin_port == local.sin_port);
}

static void unix_names(void) {
  struct sockaddr_un name = {.sun_family = AF_UNIX}, seen;
  int server = socket(AF_UNIX, SOCK_SEQPACKET, 0), client = socket(AF_UNIX, SOCK_SEQPACKET, 0);
  char text[16];
  int written = snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "reweave-%d", getpid());
  socklen_t length = (socklen_t)(sizeof(sa_family_t) + 1 + (size_t)written), room = sizeof seen;
  CHECK(bind(server, (struct sockaddr*)&name, length) == 0 && listen(server, 1) == 0);
  CHECK(getsockname(server, (struct sockaddr*)&seen, &room) == 0 && room == length);
  room = 3;
  CHECK(getsockname(server, (struct sockaddr*)&seen, &room) == 0 && room == length);
  CHECK(connect(client, (struct sockaddr*)&name, length) == 0);
  room = sizeof seen;
  int fd = accept(server, (struct sockaddr*)&seen, &room);
  CHECK(fd >= 0 && room == sizeof(sa_family_t) && send(client, "packet", 6, MSG_EOR) == 6);
  CHECK(recv(fd, text, sizeof text, 0) == 6);
  struct ucred creds;
  room = sizeof creds;
  CHECK(getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &creds, &room) == 0 && creds.pid == getpid());
}

static void interfaces(void) {
  int fd = socket(AF_INET, SOCK_DGRAM, 0);
  struct ifreq request[20];
  struct ifconf list = {.ifc_len = sizeof request, .ifc_req = request};
  CHECK(ioctl(fd, SIOCGIFCONF, &list) == 0 && list.ifc_len % (int)sizeof *request == 0);
  strcpy(request->ifr_name, "lo");
  CHECK(ioctl(fd, SIOCGIFINDEX, request) == 0 && request->ifr_ifindex > 0);
  CHECK(ioctl(fd, SIOCGIFFLAGS, request) == 0 && (request->ifr_flags & IFF_LOOPBACK));
  CHECK(ioctl(fd, SIOCGIFMTU, request) == 0 && request->ifr_mtu > 1000);
  struct if_nameindex* names = if_nameindex();
  CHECK(names != NULL);
  if_freenameindex(names);
  int link = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
  struct {
    struct nlmsghdr header;
    struct rtgenmsg body;
  } ask = {{sizeof ask, RTM_GETLINK, NLM_F_REQUEST | NLM_F_DUMP, 1, 0}, {AF_UNSPEC}};
  char answer[16384];
  CHECK(link >= 0 && send(link, &ask, sizeof ask, 0) == sizeof ask && recv(link, answer, sizeof answer, 0) > 0);
}

/* A receive that waits for all bytes, which another process sends in small parts. */
static void in_parts(void) {
  int pair[2];
  char first[4], second[4];
  struct iovec parts[] = {{first, 4}, {second, 4}};
  struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
  pid_t child = fork();
  if (child == 0) {
    CHECK(send(pair[1], "eig", 3, 0) == 3 && usleep(20000) == 0);
    CHECK(send(pair[1], "ht by", 5, 0) == 5);
    _exit(0);
  }
  CHECK(recvmsg(pair[0], &message, MSG_WAITALL) == 8);
  CHECK(memcmp(first, "eigh", 4) == 0 && memcmp(second, "t by", 4) == 0);
  expect_success(child);
}

int main(void) {
  alarm(30);
  pass_descriptor();
  many_messages();
  in_parts();
  over_tcp();
  unix_names();
  interfaces();
  puts("sockets");
  return 0;
}
