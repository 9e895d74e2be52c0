// Finds out why a run fails.
#pragma once

#include "explorer/explain/explanation.h"
#include "explorer/explain/laboratory.h"

namespace reweave {

struct ExplainOptions {
  bool whole = true;            // false: only the nearest passing run and the flips
  std::size_t most_flips = 12;  // pairs whose order is changed
  std::uint64_t base_runs = 100;
  std::size_t curve_points = 30;
  std::uint64_t curve_runs = 50;
  std::uint64_t remedy_runs = 300;

  // Some 500 runs.
  static ExplainOptions short_form() { return {.whole = false, .most_flips = 3, .base_runs = 50}; }
};

// `failing` was observed and repeats with only its switches. `progress` is called with the name of the next step.
Explanation explain(const Batch& batch, const RunResult& failing, const ExplainOptions& options,
                    const std::function<void(const std::string&)>& progress = {});

}  // namespace reweave
