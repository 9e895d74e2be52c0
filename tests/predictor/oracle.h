// The truth about small traces: explores every correct reordering, by executing the rules of witness_check.h step by
// step with all choices. Takes exponential time; for traces of up to about two dozen events.
#pragma once

#include <cstdint>
#include <vector>

#include "predictor/model/trace_model.h"
#include "predictor/witness/witness_check.h"

namespace reweave::testing {

class Oracle {
 public:
  explicit Oracle(const TraceModel& model, ReadRule rule = ReadRule::kAllDecide) : model_(model), rule_(rule) {}

  // True if some correct reordering shows `query`.
  bool feasible(const OrderQuery& query) const;

  // Explores all reorderings once, for many questions about stops.
  void explore();
  // After explore(): true if the threads of `stops` can stop right before them, together.
  bool can_stop_before(const std::vector<EventIndex>& stops) const { return reaches({{}, stops, rule_}); }
  // After explore(): true if a state with these stops exists in which the read sees what the query asks for. Does
  // not check the query's sequence.
  bool reaches(const OrderQuery& query) const;

 private:
  struct State {
    std::vector<std::uint32_t> done;     // per thread
    std::vector<std::uint32_t> written;  // per variable: write * 2 + tainted, or kNone
    std::vector<bool> tainted;           // per thread: writes other values than in the trace
    std::vector<bool> misled;            // per thread: may not decide
    std::vector<bool> carrying;          // per thread: as tainted, but only for writes that carry a value read
    std::vector<bool> lost;              // per must edge: its source came before its before_source
    std::vector<std::uint32_t> key() const;
  };

  State initial() const;
  bool enabled(const State& state, std::uint32_t t) const;
  bool reads_alike(const State& state, EventIndex read) const;
  bool lock_free(const State& state, EventIndex acquire) const;
  bool may_decide(const State& state, EventIndex e) const;
  void execute(State& state, std::uint32_t t) const;
  bool shows(const State& state, const OrderQuery& query) const;
  bool edges_allow(const State& state, EventIndex e) const;

  const TraceModel& model_;
  ReadRule rule_;
  std::vector<State> reachable_;
};

}  // namespace reweave::testing
