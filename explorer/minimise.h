// Failing runs as lists of switches, and the shortest list that still fails.
#pragma once

#include <vector>

#include "explorer/fork_server.h"
#include "explorer/strategies/goals.h"

namespace reweave {

// The switches of a run, from its records.
std::vector<ScheduleStep> switches_of(const RunResult& run);
// How many of a run's switches were preemptions: the thread could have gone on.
std::uint64_t preemptions_of(const RunResult& run);

// Re-runs subsets of the failing run's switches (delta debugging: Zeller, Hildebrandt, TSE 2002) and returns the
// failing run with the fewest preemptions found within `budget` runs; `failing` itself if none is better.
RunResult minimise(ForkServer& server, const RunResult& failing, std::uint64_t budget);

}  // namespace reweave
