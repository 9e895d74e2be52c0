// The search `flips`, which other searches feed with their runs.
#pragma once

#include <memory>

#include "explorer/searches/search.h"

namespace reweave {

class FlipSearch : public Search {
 public:
  // Takes a run of another search. If it was observed and passed, its orders can be flipped as well. `flips`: the
  // number of flips that led to the run, or that it counts as; the more, the later it is flipped.
  virtual void see(const RunResult& result, unsigned flips) = 0;
};

// `begins`: its first run is one without preemptions; otherwise it waits for runs of others.
std::unique_ptr<FlipSearch> make_flip_search(const SearchOptions& options, bool begins);

}  // namespace reweave
