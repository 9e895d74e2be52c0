// The order in which locks are taken. A cycle may become a deadlock; ThreadSanitizer reports it as
// "lock-order-inversion".
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
    std::uint32_t lock;  // the held lock
    NamedPlace takes;    // where the next lock of the cycle is taken
    ThreadId thread;
  };

  // A thread that holds `held` is about to take `lock`, at `place`. Returns the cycle that this closes, beginning with
  // `lock`, if there is one that was not returned before.
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
