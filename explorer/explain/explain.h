// Finds out why a run fails.
#pragma once

#include "explorer/explain/explanation.h"
#include "explorer/explain/laboratory.h"

namespace reweave {

struct ExplainOptions {
  bool whole = true;            // false: only the nearest passing run and the flips
  bool one_schedule = false;    // the program has no other schedule: there is nothing to compare with
  std::size_t most_flips = 12;  // pairs whose order is changed
  std::size_t most_sets = 8;    // sets of orders that are tried if no single order makes all runs fail
  std::uint64_t base_runs = 100;
  std::size_t curve_points = 30;
  std::uint64_t curve_runs = 50;
  std::uint64_t remedy_runs = 300;
  SamePlace same_place = std::equal_to<>();

  // Needs about 500 runs, and up to 400 more if no single order makes all runs fail.
  static ExplainOptions short_form() { return {.whole = false, .most_flips = 3, .most_sets = 2, .base_runs = 50}; }
};

// `failing` must be an observed run that repeats when only its switches are given. `progress` is called with the name
// of the next step.
Explanation explain(const Batch& batch, const RunResult& failing, const ExplainOptions& options,
                    const std::function<void(const std::string&)>& progress = {});

}  // namespace reweave
