// ioctl(2) requests by number: the output at their argument, if the number does not encode it, and the requests that
// cannot be recorded. Outputs at other places are in ioctl_buffers.h.
#pragma once

#include <cstdint>

namespace reweave::core {

struct Request {
  std::uint32_t number;
  std::uint16_t bytes;  // written at the argument
  bool no_argument;
};

// Null if the request is not in the table: its number encodes its output, or one of the functions below knows it.
const Request* find_request(std::uint32_t number);

// The name of the request or its family, if it is known and cannot be recorded; else null.
const char* beyond_us(std::uint32_t request);

// is_of_sockets is true for requests that answer in a struct ifreq or similar. socket_output returns the largest size
// of that answer in bytes.
bool is_of_sockets(std::uint32_t request);
std::uint16_t socket_output(std::uint32_t request);

// True if the result is a new descriptor.
bool gives_descriptor(std::uint32_t request);

}  // namespace reweave::core
