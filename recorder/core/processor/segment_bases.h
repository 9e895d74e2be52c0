// The base of the GS segment, by which the core and the shim find the running thread, as the program has it: 0. The
// instructions that read and write it (rdgsbase, wrgsbase) cannot be made to fault, so they are looked for in code when
// it is mapped, and replaced by one that does. What a program does to FS is its own affair.
#pragma once

#include "recorder/core/base/kernel_types.h"

namespace reweave::core {

// `at` is that of the bytes 0f ae in code of a file. Replaces the instruction if it reads or writes the base of GS;
// false if not.
bool trap_gs_base(std::uint64_t at);

// If the faulting instruction is one of those: carries it out and returns true. Does not return if the program sets a
// base other than 0, with which nothing of ours could go on.
bool emulate_gs_base(KernelContext& context);

// The core faulted. If that is because the program has loaded %gs, this does not return either.
void check_gs_base();

}  // namespace reweave::core
