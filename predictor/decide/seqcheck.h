// Decides whether the program could have run in another way. It looks for a correct reordering of the trace that
// executes given events in a given order and leaves given threads right before given events.
//
// A correct reordering takes a prefix of each thread, respects locks and must-order edges, and gives every read that
// decided something the value that it had in the trace. The algorithm is SeqCheck (Cai, Yun, Wang, Qiao, Palsberg,
// 2021) with two changes. Critical sections are closed only on demand. Stops replace adjacency: a race is two threads
// that stop before conflicting accesses, a deadlock is threads that stop before acquisitions of each other's locks.
//
// Sound: every positive answer carries a witness that witness_check.h has accepted. Complete for two threads; with
// more, choices made greedily may miss reorderings (the problem is NP-hard).
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "predictor/decide/closure.h"
#include "predictor/decide/feasible_set.h"
#include "predictor/model/must_order.h"
#include "predictor/model/trace_model.h"
#include "predictor/witness/witness_check.h"

namespace reweave {

enum class Feasibility {
  kFeasible,
  kInfeasible,
  kGaveUp,   // the search made choices, and may have missed a reordering
  kStopped,  // time ran out
};

struct Verdict {
  Feasibility answer = Feasibility::kInfeasible;
  Reordering witness;  // only if feasible
};

class SeqCheck {
 public:
  // `first_look`: how many of the last events of each thread refuted() examines first. `stop`, if given, is asked now
  // and then.
  SeqCheck(const TraceModel& model, const MustOrder& order, std::uint32_t first_look = 64,
           std::function<bool()> stop = {})
      : model_(model), order_(order), first_look_(first_look), stop_(std::move(stop)) {}

  // The query's read rule must be that of the given order. `window_start`: earlier events of the trace keep their order
  // (see closure.h); 0 for a complete answer.
  Verdict check(const OrderQuery& query, EventIndex window_start = 0) const;
  // True if the last events of each thread suffice to show that the query is infeasible for the whole trace. The cause
  // is mostly near the query's events. The cost does not depend on the length of the trace.
  bool refuted(const OrderQuery& query) const;
  // The number of events that check() would have to order; 0 if it would say no at once.
  std::uint64_t cost(const OrderQuery& query, EventIndex window_start) const;

 private:
  struct State;
  // Policies for sections that may stay open or end: let them stay open, end those that came first in the trace, or end
  // all.
  enum class Ends : std::uint8_t { kNever, kEarlier, kAll };
  // One greedy search; `other` is the next policy that could decide differently, or kNever.
  Verdict attempt(const OrderQuery& query, EventIndex window_start, Ends ends, Ends& other) const;
  // By thread: the number of its events before `window_start`.
  std::vector<std::uint32_t> starts(EventIndex window_start) const;
  bool grow_base(State& state, EventIndex window_start) const;
  bool demand(State& state) const;
  bool start(State& state, EventIndex window_start) const;
  bool close_known(State& state) const;
  bool close_all(State& state) const;
  bool show_write(State& state) const;
  bool end_wanted(State& state) const;
  // Decides about sections left open. False if the order must be closed again.
  bool settle_open_sections(State& state) const;
  void order_open(State& state, EventIndex open, std::uint32_t other) const;
  bool repair(State& state, const Violation& violation) const;
  Reordering linearise(const State& state) const;

  const TraceModel& model_;
  const MustOrder& order_;
  std::uint32_t first_look_;
  std::function<bool()> stop_;
};

}  // namespace reweave
