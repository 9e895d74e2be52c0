// The values that a run asked for (reweave::choose).
#pragma once

#include <cstdint>
#include <vector>

#include "explorer/run/run.h"

namespace reweave {

struct ChosenValue {
  ThreadId thread;
  std::uint64_t count;  // `value` is below this
  std::uint64_t value;
  std::uint64_t inputs;  // RunRequest::inputs
};

// In the order in which the run asked for them.
std::vector<ChosenValue> chosen_values(const RunResult& run);

}  // namespace reweave
