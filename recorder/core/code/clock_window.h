// The instructions around a read of the time stamp counter that are executed elsewhere once it is patched.
#pragma once

#include "recorder/core/base/kernel_types.h"
#include "recorder/core/code/moved_code.h"

namespace reweave::core {

struct ClockWindow {
  std::uint64_t start, end;  // start is 0: there is none
  std::uint32_t before;      // instructions of `starts` that precede the read; the others follow it
  std::uint32_t count;
  std::uint64_t starts[2 * kJumpBytes];
};

// A function that only reads the counter and returns, which is too short for a jump.
struct ClockFunction {
  std::uint64_t call;  // the call instruction from which the thread came; 0: there is no such function
  ClockWindow window;  // the whole function
};

// Finds the window for the read from `start` to `after`; `registers` are the thread's. Instructions before the read can
// be decoded reliably only from the function's entry on. The entry is found through a call whose return address is
// still on the thread's stack.
ClockWindow find_clock_window(std::uint64_t start, std::uint64_t after, const KernelRegisters& registers,
                              const Region& region);

// Finds the function that consists of the read from `start` to `after` and a return; `registers` are those of a thread
// at the read.
ClockFunction find_clock_function(std::uint64_t start, std::uint64_t after, const KernelRegisters& registers,
                                  const Region& region);

}  // namespace reweave::core
