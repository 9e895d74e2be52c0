// Cells of Go-Explore: classes of states that count as alike, with the shortest known path to each.
//
// The cell of a state consists only of the pending operations on shared objects: for each thread, the code location of
// its next such operation and the address of the object, which reflects values that the program computed. Threads are
// unordered, so that threads doing the same are interchangeable. Finer cells (with the latest writers, or how often
// each thread was there) are worse: most are returned to once at best.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "explorer/run/observation.h"

namespace reweave {

// For each choice of the run: a hash of the operations pending after it; 0 if the choice concerned no shared object, at
// most one thread can run, or the run ends.
std::vector<std::uint64_t> cells_of(const Observation& run);

class CellMap {
 public:
  // Adds the states of a run; true if there was a new cell. Beyond a limit no cells are added, to bound memory.
  bool learn(const Observation& run);
  bool empty() const { return cells_.empty(); }
  std::size_t size() const { return cells_.size(); }

  // Draws a few cells with `below(bound)`, a random number in [0, bound), and returns the one returned to least often.
  // Requires that there is a cell.
  std::size_t choose(const std::function<std::uint64_t(std::uint64_t)>& below);
  // The choices that lead to a cell.
  std::vector<ThreadId> way_to(std::size_t cell) const;
  // Takes back what choose() counted. Call it if the return found something new.
  void forget_return(std::size_t cell) { cells_[cell].chosen--; }

 private:
  struct Cell {
    std::shared_ptr<const std::vector<ThreadId>> choices;  // of the run that reached it soonest
    std::size_t length = 0;                                // this many of them lead there
    std::uint64_t chosen = 0;                              // returns that found nothing new
  };
  std::vector<Cell> cells_;
  std::unordered_map<std::uint64_t, std::size_t> known_;  // by hash: index in cells_
};

}  // namespace reweave
