// The simplest schedule that still fails in the same way.
//
// The result is minimal in this sense: without any one of its preemptions the failure does not occur.
#pragma once

#include <functional>

#include "explorer/run/run.h"

namespace reweave {

// Makes a run, with the campaign's workers or with a model in tests.
using Runner = std::function<RunResult(const RunRequest&)>;

// True if two runs, both observed, failed in the same way.
using Sameness = std::function<bool(const RunResult&, const RunResult&)>;

struct Minimised {
  RunResult run;
  bool complete;  // the search for a simpler schedule ended before the budget and the time
};

// Re-runs subsets of the failing run's switches. Returns an observed failing run with as few preemptions as could be
// found within `budget` runs, or before a run was called off. Returns `failing` itself if its switches alone do not
// reproduce the failure.
Minimised minimise(const Runner& run, const RunResult& failing, std::uint64_t budget,
                   const Sameness& same = same_failure);

}  // namespace reweave
