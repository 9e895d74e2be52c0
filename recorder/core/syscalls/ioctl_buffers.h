// What requests of ioctl write where their argument leads to, besides the argument itself.
#pragma once

#include "recorder/core/syscalls/dispatch.h"

namespace reweave::core {

// After `request` has succeeded: sets `to`. How many there are, 0 or 1.
std::uint32_t output_apart(std::uint32_t request, long argument, long result, Output* to);

}  // namespace reweave::core
