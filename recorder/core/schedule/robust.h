// Robust futexes and those with priority inheritance: releases what a thread held when it died, and lets the next owner
// know.
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

// Releases what `thread`, of the calling process, holds.
void release_robust(const Thread& thread);

// Releases what threads of `target` hold in memory shared with other processes, and clears their IDs in memory that it
// shares by CLONE_VM. Called before it leaves its memory or is killed, while it still exists.
void release_robust_of(const Process& target);

}  // namespace reweave::core
