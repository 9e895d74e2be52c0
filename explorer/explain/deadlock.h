// The cycle of locks that a deadlocked run ended in.
#pragma once

#include <vector>

#include "explorer/run/events.h"

namespace reweave {

// A thread that holds a lock and waits for another.
struct LockWait {
  Event holds, wants;
};
// Each thread waits for the lock that the next one holds, and the last for that of the first. Empty if the run did not
// end in such a cycle.
std::vector<LockWait> lock_cycle(const Observation& run);

}  // namespace reweave
