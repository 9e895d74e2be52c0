// Passing a descriptor through a socket of the core (unix(7), SCM_RIGHTS).
#pragma once

#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "recorder/core/base/context.h"

namespace reweave::core {

// A message of one byte with one descriptor.
struct DescriptorMessage {
  char byte = 0;
  struct iovec part = {&byte, 1};
  alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  struct msghdr header = {nullptr, 0, &part, 1, control, sizeof control, 0};
};

inline long send_descriptor(long socket, long fd) {
  DescriptorMessage message;
  struct cmsghdr* control = CMSG_FIRSTHDR(&message.header);
  control->cmsg_level = SOL_SOCKET;
  control->cmsg_type = SCM_RIGHTS;
  control->cmsg_len = CMSG_LEN(sizeof(int));
  const int number = static_cast<int>(fd);
  memcpy(CMSG_DATA(control), &number, sizeof number);
  return sys(SYS_sendmsg, socket, &message.header, MSG_DONTWAIT | MSG_NOSIGNAL);
}

// Returns the descriptor, which has close-on-exec set, or an error.
inline long receive_descriptor(long socket) {
  DescriptorMessage message;
  const long received = sys(SYS_recvmsg, socket, &message.header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (is_error(received)) return received;
  const struct cmsghdr* control = CMSG_FIRSTHDR(&message.header);
  if (control == nullptr || control->cmsg_type != SCM_RIGHTS) return -EMFILE;
  int number = 0;
  memcpy(&number, CMSG_DATA(control), sizeof number);
  return number;
}

}  // namespace reweave::core
