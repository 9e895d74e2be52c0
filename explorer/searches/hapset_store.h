// History-aware predecessor sets (Wang, Said, Gupta, ICSE 2011): pairs of conflicting statements of two threads, where
// the first came directly before the second in some passing run. Kept between campaigns as lines of text.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "explorer/run/observation.h"

namespace reweave {

class HapsetStore {
 public:
  // A file that does not exist is an empty history. Throws BadInput if the file is something else.
  void load(const std::string& path);
  void save(const std::string& path) const;

  // Adds the orders of a run.
  void learn(const Observation& run);
  // True if `first` was seen directly before `second`.
  bool knows(std::uint64_t first, std::uint64_t second) const { return seen_.contains({first, second}); }
  std::size_t size() const { return seen_.size(); }

 private:
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen_;
};

}  // namespace reweave
