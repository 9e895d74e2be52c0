// The sets of locks held at events, each distinct set numbered once.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "predictor/model/trace_model.h"

namespace reweave {

class Locksets {
 public:
  struct Lock {
    std::uint32_t id;
    bool shared;
  };

  explicit Locksets(const TraceModel& model);

  // Number of the set held right before `e`; 0 is the empty set.
  std::uint32_t at(EventIndex e) const { return set_of_node_[model_.held[e]]; }
  const std::vector<Lock>& locks(std::uint32_t set) const { return sets_[set]; }
  // True if two threads may hold these sets at once: no lock is in both sets with at least one of them holding it
  // exclusively.
  bool compatible(std::uint32_t a, std::uint32_t b) const;
  bool holds(std::uint32_t set, std::uint32_t lock) const;

  // The acquisition of `lock` whose section event `e` is in, or kNone.
  EventIndex section(EventIndex e, std::uint32_t lock) const;
  // The first acquisition, after event `after` of the same thread, among the sections that `e` is in; or `e` itself. A
  // thread right before it has not executed `e`, and does not yet hold those locks.
  EventIndex entry(EventIndex e, EventIndex after) const;
  // The first acquisition among the sections that `e` is in, or `e` itself.
  EventIndex outermost(EventIndex e) const;

 private:
  const TraceModel& model_;
  std::vector<std::vector<Lock>> sets_{{}};
  std::vector<std::uint32_t> set_of_node_;
};

}  // namespace reweave
