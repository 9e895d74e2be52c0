#include "predictor/witness/finding.h"

#include <algorithm>
#include <numeric>

namespace reweave {

const char* kind_name(FindingKind kind) {
  switch (kind) {
    case FindingKind::kRace:
      return "race";
    case FindingKind::kDeadlock:
      return "deadlock";
    case FindingKind::kAtomicity:
      return "atomicity";
    case FindingKind::kOrder:
      return "order";
  }
  return "?";
}

std::vector<std::string> assumptions_of(const Finding& finding) {
  std::vector<std::string> result;
  if (finding.assumes_data_only)
    result.emplace_back("Assumes that the values read for later writes decide nothing else; a run confirms it.");
  if (finding.pattern == "null-use")
    result.emplace_back("Assumes that the value read is followed as a pointer, as the code after the read suggests.");
  if (finding.pattern == "freed-by-both") result.emplace_back("Assumes that the other thread also releases the block.");
  return result;
}

Witness::Witness(const TraceModel& model, const Reordering& reordering)
    : prefix_(reordering.prefix), size_(reordering.prefix + reordering.tail.size()) {
  for (EventIndex e : reordering.tail) {
    if (runs_.empty() || runs_.back().thread != model.thread[e]) runs_.push_back({model.thread[e], 0});
    ++runs_.back().count;
  }
  runs_.shrink_to_fit();
}

std::vector<EventIndex> Witness::tail(const TraceModel& model) const {
  std::vector<EventIndex> result;
  result.reserve(size_ - prefix_);
  std::vector<std::uint32_t> done;
  for (const auto& events : model.threads) {
    done.push_back(
        static_cast<std::uint32_t>(std::lower_bound(events.begin(), events.end(), prefix_) - events.begin()));
  }
  for (const Run& run : runs_) {
    for (std::uint32_t i = 0; i < run.count; ++i) result.push_back(model.at(run.thread, done[run.thread]++));
  }
  return result;
}

std::vector<EventIndex> Witness::events(const TraceModel& model) const {
  std::vector<EventIndex> result(prefix_);
  std::iota(result.begin(), result.end(), 0u);
  const auto rest = tail(model);
  result.insert(result.end(), rest.begin(), rest.end());
  return result;
}

}  // namespace reweave
