// Finds what a thread that is blocked in a system call waits for, as far as /proc shows it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "recorder/runtime_state.h"
#include "recorder/supervisor/tree/open_pipes.h"

namespace reweave {

// A wait that only one of `processes`, or a signal, can end.
struct KernelWait {
  std::string what;                      // completes "the thread waits for"
  bool is_for_child;                     // for the end of a child process
  std::vector<std::uint32_t> processes;  // indices in RuntimeState::processes, ascending
};

// `thread` must be in state kInKernel. Returns nothing if something else could end its call, or if that is not known.
// Thread rule: the supervisor's thread; the answer may be out of date unless the supervisor has the baton.
std::optional<KernelWait> kernel_wait(const RuntimeState& state, const Thread& thread, OpenPipes& pipes);

}  // namespace reweave
