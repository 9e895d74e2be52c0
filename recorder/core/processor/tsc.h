// The time stamp counter as an input: rdtsc faults because of PR_SET_TSC or because it was replaced (input_traps.h),
// and the core answers. Code that reads it often is patched (patching.h) and enters the core without a fault.
#pragma once

#include "recorder/core/code/trapped.h"

namespace reweave::core {

// The stub of a patched read contains the original instruction, for programs that want the fault, in this many bytes
// before the point at which it resumes.
inline constexpr std::uint64_t kClockInstructionBytes = 3;

// If the faulting instruction is rdtsc or rdtscp: gives it a logged value, steps over it and returns true.
bool emulate_tsc(KernelContext& context);
// The same for a trapped instruction (Trapped::emulate).
bool emulate_trapped_tsc(KernelContext& context, const Trapped& trapped);

}  // namespace reweave::core
