// A run as a list of switches, from which the policy `schedule` makes the run again.
#pragma once

#include <cstdint>
#include <vector>

#include "explorer/run.h"
#include "explorer/strategies/goals.h"

namespace reweave {

struct SwitchList {
  std::vector<ScheduleStep> preemptions;  // in the order in which they came about
  std::vector<ScheduleStep> free;         // the thread could not go on: who did instead
};

// The switches of a run, from its records, but for those of the fair schedule at its end.
SwitchList switches_of(const RunResult& run);
// How many of a run's switches were preemptions: the thread could have gone on.
std::uint64_t preemptions_of(const RunResult& run);

RunRequest request_of(const SwitchList& list);

}  // namespace reweave
