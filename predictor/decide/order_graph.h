// A partial order over the events of k threads that answers reachability queries.
//
// For each ordered pair of threads (i, j) it keeps the direct orders "event a of i before event b of j" that no other
// such order implies: a staircase, along which both a and b grow. Once its user has closed it over all pairs of threads
// (closure.h), one lookup answers reachability. Space grows with the orders kept, not with the events; a lookup is a
// binary search; an insertion at the end, the common case, is constant time.
#pragma once

#include <cstdint>
#include <vector>

#include "predictor/model/trace_model.h"

namespace reweave {

// An event by thread and position.
struct Place {
  std::uint32_t thread;
  std::uint32_t position;
  bool operator==(const Place&) const = default;
};

class OrderGraph {
 public:
  explicit OrderGraph(std::uint32_t threads) : threads_(threads), steps_(std::size_t{threads} * threads) {}

  // Adds "a before b"; the threads differ. False if it was known.
  bool insert(Place a, Place b);

  // First position of `thread` that is after `a`, or kNone. In a's own thread: a itself.
  std::uint32_t successor(Place a, std::uint32_t thread) const;
  // Last position of `thread` that is before `b`, or kNone. In b's own thread: b itself.
  std::uint32_t predecessor(Place b, std::uint32_t thread) const;

  // True if a is b or before it.
  bool reaches(Place a, Place b) const {
    const std::uint32_t first = successor(a, b.thread);
    return first != kNone && first <= b.position;
  }

  std::uint32_t threads() const { return threads_; }

 private:
  struct Step {
    std::uint32_t from;
    std::uint32_t to;
  };
  std::vector<Step>& steps(std::uint32_t i, std::uint32_t j) { return steps_[std::size_t{i} * threads_ + j]; }
  const std::vector<Step>& steps(std::uint32_t i, std::uint32_t j) const {
    return steps_[std::size_t{i} * threads_ + j];
  }

  std::uint32_t threads_;
  std::vector<std::vector<Step>> steps_;
};

}  // namespace reweave
