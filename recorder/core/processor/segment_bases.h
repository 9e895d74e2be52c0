// The GS base, by which the core and the shim find the running thread. The program sees a base of 0. The instructions
// that read and write it (rdgsbase, wrgsbase) cannot be made to fault, so they are searched for in code when it is
// mapped, and replaced by one that does. The program may use FS as it likes.
#pragma once

#include "recorder/core/base/kernel_types.h"

namespace reweave::core {

// `at` is the address of the bytes 0f ae in code of a file. Replaces the instruction if it reads or writes the GS base;
// otherwise returns false.
bool trap_gs_base(std::uint64_t at);

// If the faulting instruction is one of those: carries it out and returns true. Does not return if the program sets a
// base other than 0, because nothing in the core could work with it.
bool emulate_gs_base(KernelContext& context);

// Called when the core faulted. Does not return if the cause is that the program has loaded %gs.
void check_gs_base();

}  // namespace reweave::core
