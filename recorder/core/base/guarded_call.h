// A call of ours that reads or writes what the target points to, which may not be there.
#pragma once

#include <cstdint>

namespace reweave::core {

// Calls body(argument), for which `frame` is self().call_frame; -EFAULT if it touched memory that is not there
// (entry.S; the fault is met in core/faults.cc).
extern "C" [[gnu::visibility("hidden")]] long core_guarded(long (*body)(void*), void* argument, std::uint64_t* frame);

}  // namespace reweave::core
