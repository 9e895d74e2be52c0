// What a processor says of itself and of the time, as inputs: `cpuid` and `xgetbv`, which cannot be made to fault on
// all machines, and reads of the time stamp counter where PR_SET_TSC has no effect. (The kernel says that it has, but
// some hypervisors run it where it cannot forbid the instruction; PVM was seen: its guests' kernels are not
// privileged.) They are looked for in code when it is mapped, as those are that never fault (random_instructions.h),
// and trapped.
//
// With `cpuid` a recording replays on other processors: the C library chooses its functions, and the folders where it
// looks for libraries, by what they can do. And in a virtual machine it may tell of the processor that the guest
// happens to run on, which changes from one moment to the next (APIC id). A recording says if it has these answers.
//
// What is not found, as in code that a program makes itself, is an input that nobody records: its replay may diverge.
#pragma once

#include "recorder/core/base/kernel_types.h"

namespace reweave::core {

// `at` is that of the byte 0f in code from `start` to `end`. True if one of those instructions is there; has it trapped
// (trapped.h) where it does not fault.
bool trap_input(std::uint64_t start, std::uint64_t at, std::uint64_t end);

}  // namespace reweave::core
