// Requests of ioctl(2) by their numbers: what they write at their argument where the number itself does not tell, and
// which cannot be recorded. What they write elsewhere is in ioctl_buffers.h.
#pragma once

#include <cstdint>

namespace reweave::core {

struct Request {
  std::uint32_t number;
  std::uint16_t bytes;  // written at the argument
  bool no_argument;
};

// Null: only its number says what it does.
const Request* find_request(std::uint32_t number);

// What it is called, or its family, if it is known and beyond what can be recorded; else null.
const char* beyond_us(std::uint32_t request);

// Those that answer in a struct ifreq or what takes its place; and how many bytes that may have.
bool is_of_sockets(std::uint32_t request);
std::uint16_t socket_output(std::uint32_t request);

// The result is a new descriptor.
bool gives_descriptor(std::uint32_t request);

}  // namespace reweave::core
