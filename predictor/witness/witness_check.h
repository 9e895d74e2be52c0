// Checks a claimed reordering by executing it. Shares no code with the search (closure.h), so that soundness depends on
// this file alone.
//
// A read that gets another value than in the trace makes its thread *tainted*, and with it the thread's writes and any
// thread that reads them. Where values are not known, another write is another value. If the read decides nothing, only
// the writes that may carry its value are tainted. A tainted thread may not decide anything, unless all its wrong reads
// only carry data (ReadRule). Deciding means a branch or, in a trace without branch events, anything but finishing its
// instruction.
#pragma once

#include <vector>

#include "predictor/model/trace_model.h"

namespace reweave {

// The claim that a reordering must show: `sequence` is executed in that order, and the thread of each stop has executed
// exactly the events before the stop.
struct OrderQuery {
  std::vector<EventIndex> sequence;
  std::vector<EventIndex> stops;
  ReadRule rule = ReadRule::kAllDecide;
  // If given: at the end, the variable of the read `seen_by` has the value of the write `seen` (kNone: the initial
  // value).
  EventIndex seen_by = kNone;
  EventIndex seen = kNone;
};

struct Violation {
  enum Kind {
    kNothing,
    kBadShape,    // not a prefix of each thread, or not the query's claim
    kMustOrder,   // `event` before `other`
    kLockHeld,    // `event` acquires while the section of acquisition `other` is open
    kWrongWrite,  // `event` read `other` (kNone: the initial value), then its thread decided
    kTainted,     // a decision on values that differ from the trace
  };
  Kind kind = kNothing;
  EventIndex event = kNone;
  EventIndex other = kNone;
};

// A reordering: the first `prefix` events of the trace, in its order, then `tail`.
struct Reordering {
  EventIndex prefix = 0;
  std::vector<EventIndex> tail;
};

// One pass over the tail. The prefix happened as in the trace, so only its final state is needed.
Violation check_witness(const TraceModel& model, const OrderQuery& query, const Reordering& witness);

}  // namespace reweave
