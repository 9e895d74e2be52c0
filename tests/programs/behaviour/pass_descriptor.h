/* Functions that send and receive a descriptor through a socket, between programs or within one (unix(7)). */
#pragma once

#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "check.h"

static void send_descriptor(int to, int fd) {
  char byte = 'd', control[CMSG_SPACE(sizeof fd)] = {0};
  struct iovec vector = {&byte, 1};
  struct msghdr message = {
      .msg_iov = &vector, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  struct cmsghdr* head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof fd);
  memcpy(CMSG_DATA(head), &fd, sizeof fd);
  CHECK(sendmsg(to, &message, 0) == 1);
}

static int receive_descriptor(int from) {
  int fd = -1;
  char byte, control[CMSG_SPACE(sizeof fd)];
  struct iovec vector = {&byte, 1};
  struct msghdr message = {
      .msg_iov = &vector, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  CHECK(recvmsg(from, &message, 0) == 1 && CMSG_FIRSTHDR(&message) != NULL);
  memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
  return fd;
}
