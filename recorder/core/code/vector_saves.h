// The C library's loader resolves a function at its first call, and saves the vector registers around that with XSAVE
// or XSAVEC. These distinguish registers that are zero from registers not used since the kernel last switched threads
// (Intel SDM vol. 1, 13.6: XINUSE). The result differs between two runs of the same instructions and stays on the
// stack, where a program may read it by mistake; what else is stored depends on the processor. So the loader is changed
// to always store all components of the recording processor, and to wipe them off the stack afterwards.
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

// Remembers the save or restore at `at` for replacement, in code with at least 64 more bytes; false if there is none.
bool remember_vector_save(std::uint64_t at);

// Replaces all remembered instructions together, because each change of memory protection is slow.
void replace_vector_saves();

}  // namespace reweave::core
