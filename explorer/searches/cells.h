// Cells of Go-Explore: classes of states that count as alike, and for each the shortest known way there.
//
// Of a state of a run its cell keeps only which operations on shared objects are pending: the place in the code of each
// thread's next one, in no order, so that threads that do the same can be exchanged. Values are not looked at.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "explorer/observation.h"

namespace reweave {

// By choice of the run: a hash of what is pending after it; 0 where at most one thread can go on, or the run ends.
std::vector<std::uint64_t> cells_of(const Observation& run);

class CellMap {
 public:
  // Adds what the run went through. Beyond a limit new cells are not taken in, to bound memory.
  void learn(const Observation& run);
  bool empty() const { return cells_.empty(); }
  std::size_t size() const { return cells_.size(); }

  // The way to a cell that was seldom seen and seldom returned to: the best of a few, drawn by `below(bound)`, which
  // gives a number in [0, bound). Requires that there is a cell.
  std::vector<ThreadId> choose(const std::function<std::uint64_t(std::uint64_t)>& below);

 private:
  struct Cell {
    std::shared_ptr<const std::vector<ThreadId>> choices;  // of the run that came there soonest
    std::size_t length = 0;                                // so many of them lead there
    std::uint64_t seen = 0;                                // runs that came there
    std::uint64_t chosen = 0;
  };
  std::vector<Cell> cells_;
  std::unordered_map<std::uint64_t, std::size_t> known_;  // by hash: index in cells_
};

}  // namespace reweave
