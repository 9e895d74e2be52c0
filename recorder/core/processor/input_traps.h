// The processor's information about itself and the time, as inputs: `cpuid` and `xgetbv`, which cannot be made to fault
// on all machines, and reads of the time stamp counter where PR_SET_TSC has no effect. (The kernel reports success, but
// some hypervisors run the kernel without the privilege to disable the instruction. This was seen with PVM, which runs
// its guests' kernels unprivileged.) Like the instructions that never fault (random_instructions.h), they are searched
// for in code when it is mapped, and trapped.
//
// Recording `cpuid` lets a recording replay on other processors: the C library chooses its functions, and the folders
// in which it looks for libraries, by the processor's features. In a virtual machine `cpuid` may also describe the
// processor that the guest happens to run on, which changes from one moment to the next (APIC id). A recording says
// whether it contains these answers.
//
// Instructions that are not found, for example in code that a program generates, are inputs that are not recorded: the
// replay may diverge.
#pragma once

#include "recorder/core/base/kernel_types.h"

namespace reweave::core {

// `at` is the address of the byte 0f in the code from `start` to `end`. True if one of those instructions is there; it
// is trapped (trapped.h) if it does not fault by itself.
bool trap_input(std::uint64_t start, std::uint64_t at, std::uint64_t end);

}  // namespace reweave::core
