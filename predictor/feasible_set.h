// The events that a reordering executes: a prefix of each thread, closed under what must have happened
// (must_order.h). Grows by demand; never shrinks.
//
// A prefix may be limited: a thread that has to stop before a given event cannot grow past it.
#pragma once

#include <cstdint>
#include <vector>

#include "predictor/must_order.h"
#include "predictor/trace_model.h"

namespace reweave {

class FeasibleSet {
 public:
  FeasibleSet(const TraceModel& model, const MustOrder& order);

  // Thread of `e` must reach `e` and stop right before it. Its earlier reads count as decided where e's happening
  // shows it. False if the thread is already past it or stops elsewhere.
  bool stop_before(EventIndex e);
  // Take in `e` and all it needs. False if that would pass a stop.
  bool require(EventIndex e);
  // Take in the first `length` events of thread `t` and all they need.
  bool require_prefix(std::uint32_t t, std::uint32_t length);

  // Works out which reads are decided; call after growing and before asking decided().
  void settle();

  bool contains(EventIndex e) const { return model_.position[e] < length_[model_.thread[e]]; }
  std::uint32_t length(std::uint32_t t) const { return length_[t]; }
  // A read of the set that must get the value that it got in the trace.
  bool decided(EventIndex read) const {
    return model_.is_atomic(read) || model_.position[read] < decided_[model_.thread[read]];
  }
  std::uint32_t decided_length(std::uint32_t t) const { return decided_[t]; }
  bool stops(std::uint32_t t) const { return stop_[t] != kNone; }

 private:
  bool join(std::span<const std::uint32_t> clock, std::uint32_t own_thread);
  bool raise(std::uint32_t t, std::uint32_t length);
  // A write after thread t's last decision whose value another decided read needs: the last such position, else 0.
  std::uint32_t needed_value(std::uint32_t t) const;

  const TraceModel& model_;
  const MustOrder& order_;
  std::vector<std::uint32_t> length_;
  std::vector<std::uint32_t> stop_;     // kNone = none
  std::vector<std::uint32_t> decided_;  // reads below are decided
};

}  // namespace reweave
