// The cycle of locks that a deadlocked run ended in.
#pragma once

#include <vector>

#include "explorer/run/events.h"
#include "explorer/run/run.h"

namespace reweave {

// A thread that holds a lock and waits for another.
struct LockWait {
  Event holds, wants;
};
// Returns the cycle: each thread waits for the lock that the next one holds, and the last one for the lock that the
// first holds. Empty if the run did not end in such a cycle.
std::vector<LockWait> lock_cycle(const Observation& run);

// The operations in which threads wait at the end of a deadlocked run, of at most 16 threads. Empty for other runs.
std::vector<Event> last_waits(const RunResult& run);

}  // namespace reweave
