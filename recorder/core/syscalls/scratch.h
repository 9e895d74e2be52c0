// Scratch memory of each thread: the kernel reads and writes it while the thread does not have the baton, and the core
// builds lists in it.
//
// Thread rule: the calling thread only.
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

// The scratch of `me`, kScratchBytes of it; maps it at first use. Ends the run if there is no memory for it.
std::uint64_t scratch_of(Thread& me);
void forget_scratch(Thread& me);

}  // namespace reweave::core
