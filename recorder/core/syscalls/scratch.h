// Scratch memory of each thread: what the kernel reads and writes while the thread has no baton, and lists in the
// making.
//
// Thread rule: of the calling thread.
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

// Where that of `me` is, kScratchBytes of it; mapped if it was not. Ends the run if there is no room.
std::uint64_t scratch_of(Thread& me);
void forget_scratch(Thread& me);

}  // namespace reweave::core
