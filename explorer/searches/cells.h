// Cells of Go-Explore: classes of states that count as alike, and for each the shortest known way there.
//
// Of a state of a run its cell keeps only which operations on shared objects are pending, and what they would read from:
// of each thread the place in the code of its next one, and of the latest write to that object. The threads are in no
// order, so that those that do the same can be exchanged. Values are not looked at.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "explorer/observation.h"

namespace reweave {

// By choice of the run: a hash of what is pending after it; 0 where the choice concerned nothing shared, at most one
// thread can go on, or the run ends.
std::vector<std::uint64_t> cells_of(const Observation& run);

class CellMap {
 public:
  // Adds what the run went through. Beyond a limit new cells are not taken in, to bound memory.
  void learn(const Observation& run);
  bool empty() const { return cells_.empty(); }
  std::size_t size() const { return cells_.size(); }

  // The way to the cell that was returned to least often of a few, which are drawn by `below(bound)`: a number in
  // [0, bound). A return does not count if the run that is learned next finds a new cell. Requires that there is a cell.
  std::vector<ThreadId> choose(const std::function<std::uint64_t(std::uint64_t)>& below);

 private:
  struct Cell {
    std::shared_ptr<const std::vector<ThreadId>> choices;  // of the run that came there soonest
    std::size_t length = 0;                                // so many of them lead there
    std::uint64_t chosen = 0;                              // returns that found nothing new
  };
  std::vector<Cell> cells_;
  std::unordered_map<std::uint64_t, std::size_t> known_;  // by hash: index in cells_
  std::optional<std::size_t> returned_to_;                // by the run that is to be learned next
};

}  // namespace reweave
