// A predicted bug: the failure, its place, and a reordering of the trace that shows it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/trace/candidates.h"
#include "predictor/model/trace_model.h"
#include "predictor/witness/witness_check.h"

namespace reweave {

enum class FindingKind {
  kRace,       // two conflicting accesses with nothing between them
  kDeadlock,   // threads that wait for each other's locks
  kAtomicity,  // an access of another thread between two that belong together
  kOrder,      // an access before an event that must precede it
};

const char* kind_name(FindingKind kind);

// An event of a finding, copied out of the model.
struct FindingEvent {
  EventIndex index = kNone;
  ThreadId thread = 0;
  Op op = Op::kRead;
  std::uint32_t site = 0;
  std::uint32_t object = 0;  // variable or lock of the model, by op
};

// A checked reordering: the first `prefix` events of the trace in its order, then runs of consecutive events of one
// thread, each the first `count` events that the thread has not executed yet. A witness covers everything from the
// start of the trace; a list of all its events would need too much memory.
class Witness {
 public:
  struct Run {
    ThreadId thread;
    std::uint32_t count;
  };

  Witness() = default;
  Witness(const TraceModel& model, const Reordering& reordering);
  // A witness that was checked before; `size` is the number of events in prefix and runs.
  Witness(EventIndex prefix, std::vector<Run> runs, std::size_t size)
      : prefix_(prefix), runs_(std::move(runs)), size_(size) {}

  EventIndex prefix() const { return prefix_; }
  const std::vector<Run>& runs() const { return runs_; }
  // All events, in order.
  std::vector<EventIndex> events(const TraceModel& model) const;
  // Likewise, without the prefix.
  std::vector<EventIndex> tail(const TraceModel& model) const;
  std::size_t size() const { return size_; }

 private:
  EventIndex prefix_ = 0;
  std::vector<Run> runs_;
  std::size_t size_ = 0;
};

struct Finding {
  FindingKind kind = FindingKind::kRace;
  std::string pattern;               // such as "W1-R2" or "R1-W2-W1": op and thread of each event in turn
  std::vector<FindingEvent> events;  // in the order of the bug
  OrderQuery query;                  // the claim that the witness proves
  Witness witness;
  bool assumes_data_only = false;    // feasible if reads that feed a write decide nothing (ReadRule); else certain
  double score = 0;                  // higher is more likely to matter
  std::uint32_t count = 1;           // matching places of the trace with the same code locations (a lower bound)
  std::vector<std::string> remarks;  // reasons for its rank, and other patterns it was found as; a sentence each
};

// The conditions under which the finding is feasible, a sentence each. Empty if it is certain.
std::vector<std::string> assumptions_of(const Finding& finding);

}  // namespace reweave
