// The C library's loader resolves a function at its first call, and saves the vector registers around that with XSAVE
// or XSAVEC. What these store tells apart registers that are zero and registers that were not used since the kernel
// last switched threads (Intel SDM vol. 1, 13.6: XINUSE): it differs between two runs of the same instructions, and
// stays on the stack, where a program may read it by mistake; and what it stores besides is each processor's own
// affair. So the loader is made to store all of it that the processor has on which the recording was made, always, and
// to wipe it off afterwards.
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

// Remembers the save or restore at `at` in code with 64 bytes more behind it as one to be replaced; false if there is
// none.
bool remember_vector_save(std::uint64_t at);

// Replaces those that were remembered: at once, for to change the protection of memory takes long.
void replace_vector_saves();

}  // namespace reweave::core
