// The C library's loader resolves a function at its first call, and saves the vector registers around that with XSAVE
// or XSAVEC. What these store tells apart registers that are zero and registers that were not used since the kernel
// last switched threads (Intel SDM vol. 1, 13.6: XINUSE): it differs between two runs of the same instructions, and
// stays on the stack, where a program may read it by mistake. So the loader is made to store all of it, always.
#pragma once

#include "recorder/core/context.h"

namespace reweave::core {

// Patches the loader mapped at [start, end), if it is one of the C library's that does so. Called while it is loaded.
void make_vector_saves_repeatable(std::uint64_t start, std::uint64_t end);

}  // namespace reweave::core
