// The simplest schedule that still fails in the same way.
//
// What is returned is minimal in this sense: without any one of its preemptions the failure does not come about.
#pragma once

#include <functional>

#include "explorer/run.h"

namespace reweave {

// Makes a run. The campaign's fork server, or a model in tests.
using Runner = std::function<RunResult(const RunRequest&)>;

// Whether two runs, both observed, failed in the same way.
using Sameness = std::function<bool(const RunResult&, const RunResult&)>;

struct Minimised {
  RunResult run;
  bool complete;  // the search for a simpler schedule ended by itself, not with the budget or the time
};

// Re-runs subsets of the failing run's switches and returns a failing run, observed, with as few preemptions as was
// found within `budget` runs, or until a run is called off; `failing` itself if its switches alone do not make it fail
// again.
Minimised minimise(const Runner& run, const RunResult& failing, std::uint64_t budget,
                   const Sameness& same = same_failure);

}  // namespace reweave
