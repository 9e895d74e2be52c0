// Schedules with interventions: orders and regions that hold while another policy chooses
// (explorer/strategies/guided.cc).
#pragma once

#include <string>
#include <vector>

#include "explorer/run/run.h"
#include "explorer/run/switches.h"
#include "explorer/strategies/goals.h"

namespace reweave {

struct Guide {
  SwitchList switches;
  std::uint32_t choices = ~0u;  // made along the switches; then the continuation chooses
  std::string continuation = "pos";
  std::vector<OrderGoal> orders;
  std::vector<RegionGoal> regions;
};
// Without a schedule: the continuation makes all choices, subject to `orders`.
Guide at_random(std::vector<OrderGoal> orders = {});
RunRequest request_of(const Guide& guide, std::uint64_t seed);

// The same run under the policy `guided`, which also enforces RunRequest::held.
RunRequest with_held_goals(const RunRequest& request);

}  // namespace reweave
