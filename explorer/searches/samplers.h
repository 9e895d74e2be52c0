// Parts of the sampling searches that other searches also use.
#pragma once

#include "explorer/searches/search.h"
#include "recorder/policy.h"

namespace reweave {

// The random numbers of a search.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) { seed_random(state_, seed ^ 0x5ea4c45eedULL); }
  std::uint64_t below(std::uint64_t bound) { return random_below(state_, bound); }

 private:
  PolicyState state_ = {};
};

// The goal of the policies `priorities` and `surw`.
std::vector<std::byte> site_goal(const std::vector<std::uint32_t>& threads, const std::vector<PriorityChange>& changes,
                                 std::vector<std::uint64_t> sites);

}  // namespace reweave
