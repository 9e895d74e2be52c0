// A run as a list of switches, from which the policy `schedule` can reproduce the run.
#pragma once

#include <cstdint>
#include <vector>

#include "explorer/run/run.h"
#include "explorer/strategies/goals.h"

namespace reweave {

struct SwitchList {
  std::vector<ScheduleStep> preemptions;  // in the order in which they happened
  std::vector<ScheduleStep> free;         // switches where the thread could not continue
  std::uint64_t inputs = 0;               // RunRequest::inputs
};

// The switches of a run, from its records, without those of the fair schedule at its end.
SwitchList switches_of(const RunResult& run);
// The number of a run's switches that were preemptions: the thread could have continued.
std::uint64_t preemptions_of(const RunResult& run);

RunRequest request_of(const SwitchList& list);

}  // namespace reweave
