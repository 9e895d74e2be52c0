#include "predictor/model/shared_units.h"

#include <algorithm>

namespace reweave {
namespace {

constexpr std::uint32_t kRun = 16;  // events of a unit without a lock
constexpr std::uint32_t kSeenTogether = 2;
constexpr std::size_t kMostPairs = 1u << 20;

// The outermost section that `e` is in, or kNone.
EventIndex outermost(const TraceModel& model, EventIndex e) {
  EventIndex result = kNone;
  for (std::uint32_t node = model.held[e]; node != 0; node = model.held_nodes[node].parent) {
    result = model.held_nodes[node].acquire;
  }
  return result;
}

}  // namespace

SharedUnits::SharedUnits(const TraceModel& model) {
  for (std::uint32_t t = 0; t < model.thread_count(); ++t) collect(model, t);
  std::erase_if(units_, [](const Unit& unit) { return unit.accesses.empty(); });
  learn();
}

void SharedUnits::collect(const TraceModel& model, std::uint32_t thread) {
  bool open = false, crowded = false;
  std::uint32_t started = 0;
  for (EventIndex e : model.threads[thread]) {
    const bool access = model.is_access(e);
    if (!access && model.op[e] != Op::kBranch && model.held[e] == 0) open = false;
    if (!access || model.is_atomic(e) || (model.flags[e] & kFrees) != 0) continue;
    const EventIndex section = outermost(model, e);
    const bool over = section == kNone && model.position[e] - started >= kRun;
    if (!open || units_.back().section != section || over) {
      units_.push_back({thread, section, {}});
      started = model.position[e];
      open = true;
      crowded = false;
    }
    auto& accesses = units_.back().accesses;
    const auto known = std::find_if(accesses.begin(), accesses.end(),
                                    [&](const UnitAccess& a) { return a.variable == model.object[e]; });
    if (known != accesses.end()) {
      known->last = e;
    } else if (crowded || accesses.size() == kMostVariables) {
      crowded = true;
      accesses.clear();
    } else {
      accesses.push_back({model.object[e], e, e});
    }
  }
}

void SharedUnits::learn() {
  std::unordered_map<std::uint64_t, std::uint32_t> together;
  std::unordered_map<std::uint32_t, std::uint32_t> count;
  for (const Unit& unit : units_) {
    for (const UnitAccess& a : unit.accesses) {
      ++count[a.variable];
      for (const UnitAccess& b : unit.accesses) {
        const std::uint64_t key = std::uint64_t{a.variable} << 32 | b.variable;
        if (a.variable < b.variable && (together.size() < kMostPairs || together.contains(key))) ++together[key];
      }
    }
  }
  for (const auto& [key, times] : together) {
    const auto a = static_cast<std::uint32_t>(key >> 32), b = static_cast<std::uint32_t>(key);
    if (times < kSeenTogether || times * 2 < std::min(count[a], count[b])) continue;
    pairs_.emplace_back(a, b);
    units_of_[a];
    units_of_[b];
  }
  std::sort(pairs_.begin(), pairs_.end());
  for (std::uint32_t u = 0; u < units_.size(); ++u) {
    for (const UnitAccess& a : units_[u].accesses) {
      if (const auto it = units_of_.find(a.variable); it != units_of_.end()) it->second.push_back(u);
    }
  }
}

const std::vector<std::uint32_t>& SharedUnits::units_of(std::uint32_t variable) const {
  static const std::vector<std::uint32_t> kEmpty;
  const auto it = units_of_.find(variable);
  return it == units_of_.end() ? kEmpty : it->second;
}

}  // namespace reweave
