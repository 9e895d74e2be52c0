// The cheap feasibility check: is there a correct reordering that keeps the trace's own order, and merely leaves events
// out? After Mathur, Pavlogiannis, Viswanathan, "Optimal prediction of synchronization-preserving races" (POPL 2021),
// with our must-order (must_order.h) in place of reads-from, so that reads which decided nothing bind nothing.
//
// What is left in is a prefix of each thread: closed under must-order, and of two critical sections of a lock the
// earlier one ends. Only sections open at the end of a prefix can violate that, so a question costs a few clock
// look-ups and no walk over events: k^2 for k threads and each round of growth, whatever the length of the trace. Only
// a positive answer is written out, and then checked by witness_check.h.
//
// Sound; misses what needs critical sections in another order than in the trace, which seqcheck.h finds.
#pragma once

#include <optional>

#include "predictor/feasible_set.h"
#include "predictor/must_order.h"
#include "predictor/trace_model.h"
#include "predictor/witness_check.h"

namespace reweave {

class SyncPreserving {
 public:
  SyncPreserving(const TraceModel& model, const MustOrder& order) : model_(model), order_(order) {}

  // True if leaving events out seems to do. Cheap; witness() makes sure.
  bool possible(const OrderQuery& query) const;
  // A checked witness, or nothing.
  std::optional<Reordering> witness(const OrderQuery& query) const;

 private:
  // A set of events in trace order, then `last`, if any.
  struct Plan {
    FeasibleSet set;
    EventIndex last = kNone;
  };
  // The last event of the sequence may come at the very end, or where it is in the trace.
  std::optional<Plan> plan(const OrderQuery& query, bool at_end) const;
  bool close(FeasibleSet& set) const;
  bool end_earlier_sections(FeasibleSet& set, std::uint32_t t, bool& grown) const;
  Reordering write_out(const Plan& plan) const;

  const TraceModel& model_;
  const MustOrder& order_;
};

}  // namespace reweave
