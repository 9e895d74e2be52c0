// The happens-before order of one run: program order, creation, wake-ups, and conflicts on the same object.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "explorer/run/observation.h"

namespace reweave {

class HappensBefore {
 public:
  // If not `by_conflicts`, operations on the same object are not ordered.
  explicit HappensBefore(const Observation& run, bool by_conflicts = true);

  // True if choice i happens before choice j (i < j), or is of the same thread.
  bool before(std::size_t i, std::size_t j) const { return clock(j)[run_[i].thread] > i; }
  // The same without the orders that the operation of j itself adds.
  bool before_start(std::size_t i, std::size_t j) const { return start(j)[run_[i].thread] > i; }
  // True if the choice has an effect: it is not merely an attempt at a lock that blocked.
  bool counts(std::size_t i) const { return counts_[i]; }
  // Latest earlier choice of each other thread that conflicts with i and could be exchanged with it, latest first.
  std::vector<std::size_t> races_of(std::size_t i) const;
  // All earlier choices of other threads that conflict with i and do not happen before it, latest first.
  std::vector<std::size_t> conflicts_not_before(std::size_t i) const;

 private:
  // For each thread, 1 + the index in the run of its latest choice that happens before choice i; 0 if there is none.
  // clock() includes choice i itself.
  const std::uint32_t* clock(std::size_t i) const { return clocks_.data() + i * threads_; }
  const std::uint32_t* start(std::size_t i) const { return starts_.data() + i * threads_; }
  void join(std::uint32_t* to, const std::uint32_t* from) const;
  void find_attempts();
  void compute(bool by_conflicts);
  // The latest choices before i on its object, in order.
  std::span<const std::uint32_t> earlier_on_object(std::size_t i) const;
  std::vector<std::size_t> conflicts_of(std::size_t i, bool locks_only) const;

  const Observation& run_;
  std::size_t threads_;
  std::vector<bool> counts_;
  std::vector<std::uint32_t> clocks_, starts_;
  std::vector<std::vector<std::uint32_t>> by_granule_;  // choices, in order
  std::vector<std::int64_t> list_of_;                   // by choice: index in by_granule_, -1: none
};

}  // namespace reweave
