// The passing run that differs least from a failing one.
#pragma once

#include <optional>

#include "explorer/explain/laboratory.h"
#include "explorer/run/events.h"

namespace reweave {

struct NearestRun {
  RunResult run;
  std::vector<EventPair> pairs;  // the pairs that it reorders, as in the failing run
};

struct NearestSearch {
  std::optional<NearestRun> best;
  std::uint64_t tried = 0;    // runs
  std::uint64_t passing = 0;  // of these
  std::uint64_t left = 0;     // the recording before their end, so nobody knows whether they would have passed
};

// Tries variants of the failing schedule with one preemption left out or moved. If no usable run passes, tries random
// schedules and minimises the first ones that pass. Returns the passing run that reorders the fewest pairs, but at
// least one. `failing` must be an observed run that repeats when only its switches are given.
NearestSearch nearest_passing_run(Laboratory& laboratory, const RunResult& failing);

// Counts `run`. Makes it the best one if it passed and has fewer reordered pairs.
void keep_nearer(NearestSearch& search, const RunResult& run, const std::vector<Event>& failing);

}  // namespace reweave
