// Messages with descriptors over a Unix socket.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/base/fd.h"

namespace reweave {

// Both ends of a socket. `kind`: SOCK_SEQPACKET, which keeps messages apart, or SOCK_STREAM.
std::pair<Fd, Fd> socket_pair(int kind);

// Throws SystemError.
void send_passing(int socket, std::string_view message, std::span<const int> descriptors);

// Appends the descriptors that were received to `passed`. Returns the bytes of the message; 0 if no more messages will
// follow, or if nothing was received for `milliseconds` (negative: waits forever).
std::size_t receive_passed(int socket, void* to, std::size_t bytes, std::vector<Fd>& passed, int milliseconds = -1);

template <typename Message>
std::string_view bytes_of(const Message& message) {
  return {reinterpret_cast<const char*>(&message), sizeof message};
}

}  // namespace reweave
