// Checks a claimed reordering by executing it. Shares no code with the search (closure.h), so that soundness rests
// on this file alone.
//
// The values of the program are not known, so a read that gets another write than in the trace makes its thread
// *tainted*: what it writes is tainted too, and so is who reads that. A tainted thread may not decide anything
// (a branch; in a trace without branch events, anything but finishing its instruction), unless all wrong reads were
// ones that carry data only (ReadRule).
#pragma once

#include <vector>

#include "predictor/trace_model.h"

namespace reweave {

// What a reordering is to show: `sequence` executed in that order, and for each stop its thread has executed exactly
// the events before the stop.
struct OrderQuery {
  std::vector<EventIndex> sequence;
  std::vector<EventIndex> stops;
  ReadRule rule = ReadRule::kAllDecide;
  // If given: stop `seen_by` is a read, and would read what the write `seen` (kNone: nobody) wrote.
  EventIndex seen_by = kNone;
  EventIndex seen = kNone;
};

struct Violation {
  enum Kind {
    kNothing,
    kBadShape,    // not a prefix of each thread, or not what was asked
    kMustOrder,   // `event` before `other`
    kLockHeld,    // `event` acquires while the section of acquisition `other` is open
    kWrongWrite,  // `event` read `other` (kNone: the initial value), then its thread decided
    kTainted,     // a decision on values that others had changed
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

// One pass over the tail. The prefix happened, so only the state that it leaves is taken from the trace.
Violation check_witness(const TraceModel& model, const OrderQuery& query, const Reordering& witness);

}  // namespace reweave
