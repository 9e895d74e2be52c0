// The search `flips`, for others to feed with their runs.
#pragma once

#include <memory>

#include "explorer/searches/search.h"

namespace reweave {

class FlipSearch : public Search {
 public:
  // A run that another search asked for: if it was observed and passed, what it did can be flipped, too. `flips`: it
  // counts as having come from so many.
  virtual void see(const RunResult& result, unsigned flips) = 0;
};

// `begins`: its first run is one without preemptions; otherwise it waits for runs of others.
std::unique_ptr<FlipSearch> make_flip_search(const SearchOptions& options, bool begins);

}  // namespace reweave
