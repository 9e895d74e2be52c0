// The events that a reordering executes: a prefix of each thread, closed under what must have happened
// (must_order.h). Grows by demand; never shrinks.
//
// A prefix may be limited: a thread that has to stop before a given event cannot grow past it.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "predictor/model/must_order.h"
#include "predictor/model/trace_model.h"

namespace reweave {

class FeasibleSet {
 public:
  FeasibleSet(const TraceModel& model, const MustOrder& order);

  // The thread of `e` must reach `e` and stop right before it. Its earlier reads count as decided if the execution of
  // `e` shows that they were. False if the thread is already past `e` or stops elsewhere.
  bool stop_before(EventIndex e);
  // Takes in `e` and all events that it needs. False if that would pass a stop.
  bool require(EventIndex e);
  // Takes in the first `length` events of thread `t` and all events that they need. False if that would pass a stop.
  bool require_prefix(std::uint32_t t, std::uint32_t length);

  // Finds out which reads are decided. Call it after growing and before asking decided().
  void settle();

  bool contains(EventIndex e) const { return model_.position[e] < length_[model_.thread[e]]; }
  std::uint32_t length(std::uint32_t t) const { return length_[t]; }
  // True if a read of the set must get the value that it got in the trace.
  bool decided(EventIndex read) const {
    if (model_.is_blind(read)) return read < chain_needed(model_.chain[read]);
    return model_.is_atomic(read) || decided_with(read, decided_length(model_.thread[read]));
  }
  // The reads of a chain of blind updates below the result are decided: a read of the set gets their value.
  EventIndex chain_needed(std::uint32_t chain) const {
    const auto known = chain_needed_.find(chain);
    return known == chain_needed_.end() ? 0 : known->second;
  }
  // The chains of which more was needed, each time in order.
  const std::vector<std::uint32_t>& raised_chains() const { return raised_chains_; }

  // Bounds of positions. Reads below `decided` decided something; reads below `valued` made a value that others need.
  // Of the reads that decide nothing, only those below `carried` made such a value; `carried` is at most `valued`.
  struct Bounds {
    std::uint32_t decided = 0;
    std::uint32_t valued = 0;
    std::uint32_t carried = 0;
  };
  Bounds decided_length(std::uint32_t t) const { return bounds_[t]; }
  bool decided_with(EventIndex read, Bounds bounds) const {
    const std::uint32_t pos = model_.position[read];
    if (model_.decides_nothing(read)) return pos < bounds.carried;
    return pos < bounds.valued || (pos < bounds.decided && !model_.carries_data(read, order_.rule()));
  }
  bool stops(std::uint32_t t) const { return stop_[t] != kNone; }

 private:
  bool join(std::span<const std::uint32_t> clock, std::uint32_t own_thread);
  bool raise(std::uint32_t t, std::uint32_t length);
  // The position of the last write of thread t whose value a decided read needs, if it is above the known bound; else
  // 0.
  std::uint32_t needed_value(std::uint32_t t) const;
  // The same for writes whose value depends on reads that decide nothing.
  std::uint32_t needed_carried(std::uint32_t t) const;
  bool is_needed(EventIndex write) const;
  // Notes what the events of thread t that joined the set need of chains of blind updates.
  void need_chains(std::uint32_t t);
  // Notes that a needed value depends on the reads of thread t below `end` that decide nothing.
  void carry(std::uint32_t t, std::uint32_t end);

  const TraceModel& model_;
  const MustOrder& order_;
  std::vector<std::uint32_t> length_;
  std::vector<std::uint32_t> stop_;  // kNone = none
  std::vector<Bounds> bounds_;
  std::unordered_map<std::uint32_t, EventIndex> chain_needed_;  // a trace may have a chain for each of many objects
  std::vector<std::size_t> chain_reads_seen_;  // by thread: how many of its TraceModel::chain_reads need_chains() knows
  std::vector<std::uint32_t> raised_chains_;
};

}  // namespace reweave
