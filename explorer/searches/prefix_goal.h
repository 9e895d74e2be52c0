// The goal of the policy `prefix`.
#pragma once

#include <vector>

#include "explorer/run/run.h"
#include "explorer/strategies/goals.h"

namespace reweave {

// A run that begins with `choices`; `sleepers` sleep from the last of these choices on.
RunRequest prefix_request(const std::vector<ThreadId>& choices, const std::vector<Sleeper>& sleepers = {});

}  // namespace reweave
