// What requests of ioctl(2) write where their argument leads to, besides the argument itself: a table.
#pragma once

#include "recorder/core/syscalls/call.h"

namespace reweave::core {

inline constexpr std::uint32_t kMostApart = 2;  // outputs of a request

// It is in the table.
bool has_outputs_apart(std::uint32_t request);
// A request of the table whose argument leads on to memory that the table does not know of.
bool leads_further(std::uint32_t request, std::uint64_t argument);
// After `request`: into `to`, which has room for kMostApart. How many there are.
std::uint32_t outputs_apart(std::uint32_t request, long argument, long result, Output* to);

// Whether one of the words there is an address of the program's memory.
bool holds_address(std::uint64_t from, std::uint64_t bytes);

}  // namespace reweave::core
