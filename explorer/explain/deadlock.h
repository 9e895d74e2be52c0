// The cycle of locks that a deadlocked run ended in.
#pragma once

#include <vector>

#include "explorer/events.h"

namespace reweave {

// A thread that holds a lock and waits for another.
struct LockWait {
  Event holds, wants;
};
// Each of them waits for the lock that the next one holds, the last for that of the first. Empty: no locks are to
// blame.
std::vector<LockWait> lock_cycle(const Observation& run);

}  // namespace reweave
