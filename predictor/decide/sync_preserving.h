// The cheap feasibility check: is there a correct reordering that keeps the order of the trace and only leaves events
// out? After Mathur, Pavlogiannis, Viswanathan: "Optimal prediction of synchronization-preserving races" (POPL 2021).
// Must-order (must_order.h) replaces reads-from, so reads that decided nothing impose no order.
//
// The remaining events are a prefix of each thread, closed under must-order, in which the earlier of two critical
// sections of a lock ends. Only sections open at the end of a prefix can violate that. So a check costs a few clock
// look-ups and no walk over events: k^2 for k threads and each round of growth, independent of the length of the trace.
// Only a positive answer is written out, and then checked by witness_check.h.
//
// Sound. Misses reorderings that need critical sections in another order than in the trace; seqcheck.h finds those.
#pragma once

#include <optional>

#include "predictor/decide/feasible_set.h"
#include "predictor/model/must_order.h"
#include "predictor/model/trace_model.h"
#include "predictor/witness/witness_check.h"

namespace reweave {

class SyncPreserving {
 public:
  SyncPreserving(const TraceModel& model, const MustOrder& order) : model_(model), order_(order) {}

  // True if leaving events out seems sufficient. Cheap; witness() confirms it.
  bool possible(const OrderQuery& query) const;
  // A checked witness, or nothing.
  std::optional<Reordering> witness(const OrderQuery& query) const;

 private:
  // A set of events executed in trace order, then `last`, if any.
  struct Plan {
    FeasibleSet set;
    EventIndex last = kNone;
  };
  // The last event of the sequence comes at the very end (`at_end`), or at its place in the trace.
  std::optional<Plan> plan(const OrderQuery& query, bool at_end) const;
  bool close(FeasibleSet& set) const;
  bool end_earlier_sections(FeasibleSet& set, std::uint32_t t, bool& grown) const;
  Reordering write_out(const Plan& plan) const;

  const TraceModel& model_;
  const MustOrder& order_;
};

}  // namespace reweave
