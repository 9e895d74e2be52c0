#include "recorder/supervisor/process/passing.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "formats/base/error.h"

namespace reweave {

namespace {

constexpr std::size_t kMostPassed = 8;

}  // namespace

std::pair<Fd, Fd> socket_pair(int kind) {
  int ends[2];
  SYSCALL_CHECK(socketpair(AF_UNIX, kind | SOCK_CLOEXEC, 0, ends), "making a pair of sockets");
  return {Fd(ends[0]), Fd(ends[1])};
}

void send_passing(int socket, std::string_view message, std::span<const int> descriptors) {
  alignas(cmsghdr) char control[CMSG_SPACE(kMostPassed * sizeof(int))] = {};
  CHECK(descriptors.size() <= kMostPassed);
  iovec part = {const_cast<char*>(message.data()), message.size()};
  msghdr header = {};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (!descriptors.empty()) {
    header.msg_control = control;
    header.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(rights), descriptors.data(), descriptors.size_bytes());
  }
  SYSCALL_CHECK(sendmsg(socket, &header, MSG_NOSIGNAL), "passing descriptors");
}

std::size_t receive_passed(int socket, void* to, std::size_t bytes, std::vector<Fd>& passed, int milliseconds) {
  pollfd readable = {socket, POLLIN, 0};
  if (milliseconds >= 0 && poll(&readable, 1, milliseconds) <= 0) return 0;
  alignas(cmsghdr) char control[CMSG_SPACE(kMostPassed * sizeof(int))];
  iovec part = {to, bytes};
  msghdr header = {};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  ssize_t got = 0;
  do {
    got = recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return 0;
  const cmsghdr* rights = CMSG_FIRSTHDR(&header);
  if (rights != nullptr && rights->cmsg_level == SOL_SOCKET && rights->cmsg_type == SCM_RIGHTS)
    for (std::size_t at = 0; at + CMSG_LEN(sizeof(int)) <= rights->cmsg_len; at += sizeof(int)) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(rights) + at, sizeof fd);
      passed.emplace_back(fd);
    }
  return static_cast<std::size_t>(got);
}

}  // namespace reweave
