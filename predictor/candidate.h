// A predicted bug: what could happen, where, and a reordering of the trace that shows it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "predictor/trace_model.h"
#include "predictor/witness_check.h"

namespace reweave {

enum class CandidateKind {
  kRace,       // two conflicting accesses with nothing between them
  kDeadlock,   // threads that wait for each other's locks
  kAtomicity,  // an access of another thread between two that belong together
  kOrder,      // an access before what had to precede it
};

const char* kind_name(CandidateKind kind);

// An event of a candidate, copied out of the model.
struct CandidateEvent {
  EventIndex index = kNone;
  ThreadId thread = 0;
  Op op = Op::kRead;
  std::uint32_t site = 0;
  std::uint32_t object = 0;  // variable or lock of the model, by op
};

// A checked reordering, as runs of consecutive events of one thread: the first `count` events that the thread has not
// executed yet. A witness covers all that happens from the start of the trace, and threads run long between switches,
// so runs are short where lists of events would fill memory.
class Witness {
 public:
  struct Run {
    ThreadId thread;
    std::uint32_t count;
  };

  Witness() = default;
  Witness(const TraceModel& model, const std::vector<EventIndex>& events);

  const std::vector<Run>& runs() const { return runs_; }
  // All events in order.
  std::vector<EventIndex> events(const TraceModel& model) const;
  std::size_t size() const { return size_; }

 private:
  std::vector<Run> runs_;
  std::size_t size_ = 0;
};

struct Candidate {
  CandidateKind kind = CandidateKind::kRace;
  std::string pattern;                 // such as "W1-R2" or "R1-W2-W1": op and thread of each event in turn
  std::vector<CandidateEvent> events;  // in the order of the bug
  OrderQuery query;                    // what the witness shows
  Witness witness;
  bool assumes_data_only = false;      // feasible if reads that feed a write decide nothing (ReadRule); else certain
  double score = 0;         // higher is more likely to matter
  std::uint32_t count = 1;  // places of the trace that fit the same code locations (a lower bound)
};

}  // namespace reweave
