// History-aware predecessor sets (Wang, Said, Gupta, ICSE 2011): which statement of one thread came directly before
// which conflicting one of another in some good run. Kept between campaigns as lines of text.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "explorer/observation.h"

namespace reweave {

class HapsetStore {
 public:
  // A file that does not exist is an empty history. Throws BadInput if it is something else.
  void load(const std::string& path);
  void save(const std::string& path) const;

  // Adds what the run did.
  void learn(const Observation& run);
  // `first` directly before `second` was seen.
  bool knows(std::uint64_t first, std::uint64_t second) const { return seen_.contains({first, second}); }
  std::size_t size() const { return seen_.size(); }

 private:
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen_;
};

}  // namespace reweave
