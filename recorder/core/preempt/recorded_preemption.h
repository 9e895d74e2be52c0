// Replay: preemptions at the recorded instants. From the recorded schedule point on, a breakpoint is set at the
// recorded instruction; the first hit with everything named equal is the instant.
#pragma once

#include "recorder/core/base/kernel_types.h"

namespace reweave::core {

// After records were consumed: moves the breakpoint to where the next record needs it, or removes it.
void watch_for_preemption();
// On SIGTRAP. True if the breakpoint caused it.
bool on_breakpoint(KernelContext& context);
// On a write fault at `address`. True if the breakpoint caused it.
bool on_breakpoint_write(KernelContext& context, std::uint64_t address);
// On any other fault of the instruction being stepped over, or being executed elsewhere because of the breakpoint.
void abandon_step_over(KernelContext& context);

}  // namespace reweave::core
