// Robust futexes, and those with priority inheritance: what a thread held when it died is given up, and the next who
// wants it is told.
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

// The calling process: gives up what `thread` of it holds.
void release_robust(const Thread& thread);

// Gives up what threads of `target` hold in memory that it shares with others, and clears their ids in memory that it
// has in common with other processes. It leaves its memory, or is to be killed, and is still there.
void release_robust_of(const Process& target);

}  // namespace reweave::core
