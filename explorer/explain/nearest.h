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
  std::uint64_t passing = 0;  // runs that passed
};

// Finds, among the passing runs that it tries, the one with the fewest reordered pairs, but not none. Tries the failing
// schedule with one preemption left out or moved and, if that finds none, random schedules; minimises the first that
// passes. `failing` was observed and repeats with its switches.
NearestSearch nearest_passing_run(Laboratory& laboratory, const RunResult& failing);

// Makes `run` the best one if it passed and has fewer reordered pairs.
void keep_nearer(NearestSearch& search, const RunResult& run, const std::vector<Event>& failing);

}  // namespace reweave
