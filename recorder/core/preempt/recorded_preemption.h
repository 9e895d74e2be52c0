// Replay: preemptions at the recorded instants. A breakpoint stands at the recorded instruction from the recorded
// schedule point on: the first time that everything named is equal there is the instant.
#pragma once

#include "recorder/core/base/kernel_types.h"

namespace reweave::core {

// After records were consumed: the breakpoint stands where the next record wants it, or nowhere.
void watch_for_preemption();
// SIGTRAP. True if it was the breakpoint's.
bool on_breakpoint(KernelContext& context);
// A write fault at `address`. True if the breakpoint caused it.
bool on_breakpoint_write(KernelContext& context, std::uint64_t address);
// Any other fault of the instruction that is being stepped over, or is executed elsewhere for the breakpoint's sake.
void abandon_step_over(KernelContext& context);

}  // namespace reweave::core
