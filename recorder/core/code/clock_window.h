// The instructions around a read of the time stamp counter of which a jump takes the place.
#pragma once

#include "recorder/core/base/kernel_types.h"
#include "recorder/core/code/moved_code.h"

namespace reweave::core {

struct ClockWindow {
  std::uint64_t start, end;  // start is 0: there is none
  std::uint32_t before;      // instructions of `moved` that come before the read; the others come after it
  std::uint32_t count;
  std::uint64_t starts[2 * kJumpBytes];
};

// For the read from `start` to `after`, where the thread is whose registers these are. What is before is known for
// certain only from the function's entry, which a call leads to whose return address the thread still has.
ClockWindow find_clock_window(std::uint64_t start, std::uint64_t after, const KernelRegisters& registers,
                              const Region& region);

}  // namespace reweave::core
