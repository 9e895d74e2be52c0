// The passing run that differs least from a failing one.
#pragma once

#include <optional>

#include "explorer/events.h"
#include "explorer/explain/laboratory.h"

namespace reweave {

struct NearestRun {
  RunResult run;
  std::vector<EventPair> pairs;  // that come in the other order in it, as they are in the failing run
};

struct NearestSearch {
  std::optional<NearestRun> best;
  std::uint64_t passing = 0;  // runs that passed
};

// `failing`: observed, and made again by its switches. Of the passing runs that were tried, the one with the fewest
// reordered pairs, one at least. Tries the failing schedule without, or with a later or earlier one of its preemptions;
// if it has none, or none of these passes, random schedules made as simple as they get.
NearestSearch nearest_passing_run(Laboratory& laboratory, const RunResult& failing);

// `run` is the best one if it passed and has fewer reordered pairs.
void keep_nearer(NearestSearch& search, const RunResult& run, const std::vector<Event>& failing);

}  // namespace reweave
