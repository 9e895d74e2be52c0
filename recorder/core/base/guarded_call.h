// Calls a function of the core that accesses memory at an address given by the target, which may be unmapped.
#pragma once

#include <cstdint>

namespace reweave::core {

// Calls body(argument) with `frame` as self().call_frame. Returns -EFAULT if it accessed unmapped memory (entry.S;
// core/faults.cc handles the fault).
extern "C" [[gnu::visibility("hidden")]] long core_guarded(long (*body)(void*), void* argument, std::uint64_t* frame);

}  // namespace reweave::core
