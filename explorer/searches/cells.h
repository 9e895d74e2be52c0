// Cells of Go-Explore: classes of states that count as alike, and for each the shortest known way there.
//
// Of a state of a run its cell keeps only which operations on shared objects are pending: of each thread the place in
// the code of its next one, and the object's address, which tells of values that the program computed it from. The
// threads are in no order, so that those that do the same can be exchanged. Finer cells (with the latest writers, or
// how often each thread was there) are worse: most are returned to once at best.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "explorer/observation.h"

namespace reweave {

// By choice of the run: a hash of what is pending after it; 0 where the choice concerned nothing shared, at most one
// thread can go on, or the run ends.
std::vector<std::uint64_t> cells_of(const Observation& run);

class CellMap {
 public:
  // Adds what the run went through; true if there was a new cell. Beyond a limit none is taken in, to bound memory.
  bool learn(const Observation& run);
  bool empty() const { return cells_.empty(); }
  std::size_t size() const { return cells_.size(); }

  // The cell that was returned to least often of a few, which are drawn by `below(bound)`: a number in [0, bound).
  // Requires that there is a cell.
  std::size_t choose(const std::function<std::uint64_t(std::uint64_t)>& below);
  // The choices that lead to a cell.
  std::vector<ThreadId> way_to(std::size_t cell) const;
  // A return that found something new does not count.
  void forget_return(std::size_t cell) { cells_[cell].chosen--; }

 private:
  struct Cell {
    std::shared_ptr<const std::vector<ThreadId>> choices;  // of the run that came there soonest
    std::size_t length = 0;                                // so many of them lead there
    std::uint64_t chosen = 0;                              // returns that found nothing new
  };
  std::vector<Cell> cells_;
  std::unordered_map<std::uint64_t, std::size_t> known_;  // by hash: index in cells_
};

}  // namespace reweave
