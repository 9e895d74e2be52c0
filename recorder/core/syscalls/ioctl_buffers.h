// A table of memory that ioctl(2) requests write through pointers in their argument, besides the argument itself.
#pragma once

#include "recorder/core/syscalls/call.h"

namespace reweave::core {

inline constexpr std::uint32_t kMostApart = 2;  // the most outputs that one request has in the table

// True if the request is in the table.
bool has_outputs_apart(std::uint32_t request);
// True if the request is in the table, but its argument points to memory that the table does not describe.
bool leads_further(std::uint32_t request, std::uint64_t argument);
// After `request`: stores its outputs in `to`, which has room for kMostApart. Returns their number.
std::uint32_t outputs_apart(std::uint32_t request, long argument, long result, Output* to);

// True if one of the 8-byte words in the `bytes` at `from` is an address in the program's memory.
bool holds_address(std::uint64_t from, std::uint64_t bytes);

}  // namespace reweave::core
