// Tells objects that several threads can reach from those of one thread.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "predictor/suspects/points_to.h"
#include "predictor/suspects/thread_walk.h"

namespace reweave {

class Sharing {
 public:
  Sharing(const ProgramSummary& program, const PointsTo& points_to, const ThreadWalk& walk);

  // True if it can be reached from a variable of the program or from what a thread receives, and is not constant and
  // not one for each thread.
  bool is_shared(std::uint32_t object) const { return is_shared_[object]; }
  // True if each thread of the kind has such an object of its own, which the others of that kind cannot reach.
  bool is_own(std::uint32_t kind, std::uint32_t object) const { return own_[kind].contains(object); }

 private:
  void find_shared(const ProgramSummary& program, const PointsTo& points_to);
  void find_own(const PointsTo& points_to, const ThreadWalk& walk, std::uint32_t kind);

  std::vector<bool> is_shared_;
  std::vector<std::set<std::uint32_t>> own_;
};

}  // namespace reweave
