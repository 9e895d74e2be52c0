// Access patterns of runs, ranked by how well they distinguish failing runs from passing ones (Falcon: Park, Vuduc,
// Harrold, ICSE 2010).
#pragma once

#include <map>
#include <vector>

#include "explorer/explain/explanation.h"

namespace reweave {

class PatternRanking {
 public:
  void learn(const Observation& run, bool failed);
  // At most `most` patterns, the most suspicious first.
  std::vector<RankedPattern> ranked(std::size_t most) const;

 private:
  // For each access: its code, whether it writes, and the number of its thread within the pattern.
  using Key = std::vector<std::tuple<std::uint64_t, bool, ThreadId>>;
  friend class PatternFinder;
  std::map<Key, RankedPattern> patterns_;
  std::uint64_t failed_ = 0;
};

}  // namespace reweave
