// Finds what a thread that is blocked in a system call waits for, as far as /proc shows it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "recorder/runtime_state.h"

namespace reweave {

// The wait can only be ended by one of these processes, or by a signal.
struct KernelWait {
  std::string what;                      // completes "the thread waits for"
  bool is_for_child;                     // for the end of a child process
  std::vector<std::uint32_t> processes;  // indices in RuntimeState::processes, ascending
};

// `thread` is in state kInKernel. Nothing if something else could end its call, or if that cannot be told. Thread rule:
// the supervisor's thread; the answer may be out of date unless the supervisor has the baton.
std::optional<KernelWait> kernel_wait(const RuntimeState& state, const Thread& thread);

}  // namespace reweave
