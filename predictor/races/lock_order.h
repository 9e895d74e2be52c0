// In which order locks are taken: a cycle may become a deadlock, as ThreadSanitizer reports it
// ("lock-order-inversion").
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "predictor/races/race_finding.h"

namespace reweave {

class LockOrder {
 public:
  struct Step {
    std::uint32_t lock;  // that is held
    NamedPlace takes;    // the next one of the cycle
    ThreadId thread;
  };

  // A thread that holds `held` is about to get `lock`, at `place`. The cycle that this closes, beginning with `lock`,
  // if there is one that was not told before.
  std::optional<std::vector<Step>> take(const std::vector<LockHeld>& held, std::uint32_t lock, const NamedPlace& place,
                                        ThreadId thread);

 private:
  struct Edge {
    NamedPlace place;
    ThreadId thread;
  };
  using Edges = std::map<std::uint32_t, Edge>;  // by the lock taken

  std::vector<std::uint32_t> path(std::uint32_t from, std::uint32_t to) const;

  std::map<std::uint32_t, Edges> after_;  // by the lock held
  std::set<std::set<std::uint32_t>> told_;
};

}  // namespace reweave
