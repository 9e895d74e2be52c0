#include "predictor/candidate.h"

namespace reweave {

const char* kind_name(CandidateKind kind) {
  switch (kind) {
    case CandidateKind::kRace: return "race";
    case CandidateKind::kDeadlock: return "deadlock";
    case CandidateKind::kAtomicity: return "atomicity";
    case CandidateKind::kOrder: return "order";
  }
  return "?";
}

Witness::Witness(const TraceModel& model, const std::vector<EventIndex>& events) : size_(events.size()) {
  for (EventIndex e : events) {
    if (runs_.empty() || runs_.back().thread != model.thread[e]) runs_.push_back({model.thread[e], 0});
    ++runs_.back().count;
  }
  runs_.shrink_to_fit();
}

std::vector<EventIndex> Witness::events(const TraceModel& model) const {
  std::vector<EventIndex> result;
  result.reserve(size_);
  std::vector<std::uint32_t> done(model.thread_count(), 0);
  for (const Run& run : runs_) {
    for (std::uint32_t i = 0; i < run.count; ++i) result.push_back(model.at(run.thread, done[run.thread]++));
  }
  return result;
}

}  // namespace reweave
