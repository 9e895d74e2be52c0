// The time stamp counter as an input: PR_SET_TSC makes rdtsc fault, or what was put in its place does (input_traps.h),
// and the core answers. Where it is read often, the code is patched (patching.h), and the core is entered without a
// fault.
#pragma once

#include "recorder/core/code/trapped.h"

namespace reweave::core {

// The stub of a patched read has the instruction itself, for programs that want the fault: in so many bytes before the
// place where it goes on.
inline constexpr std::uint64_t kClockInstructionBytes = 3;

// If the faulting instruction is rdtsc or rdtscp: gives it a logged value, steps over it, returns true.
bool emulate_tsc(KernelContext& context);
// The same of one that is trapped (Trapped::emulate).
bool emulate_trapped_tsc(KernelContext& context, const Trapped& trapped);

}  // namespace reweave::core
