// Tracing: writes wire::KernelStep records. For kernel_steps*.cc.
#pragma once

#include "recorder/core/log/kernel_step.h"
#include "recorder/core/syscalls/call.h"

namespace reweave::core {

inline void note(const Call& call, KernelStep step, long address, std::uint64_t extra = 0) {
  note_step(call.context.registers.rip, step, static_cast<std::uint64_t>(address), extra);
}

// A descriptor is the lower half of an argument.
inline std::uint64_t descriptor(long argument) { return static_cast<std::uint32_t>(argument); }

inline void note(const Call& call, KernelStep step, KernelPlace place, long which = 0) {
  note(call, step, static_cast<long>(place), static_cast<std::uint64_t>(which));
}

}  // namespace reweave::core
