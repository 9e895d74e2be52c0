#include "predictor/feasible_set.h"

#include <algorithm>

namespace reweave {

FeasibleSet::FeasibleSet(const TraceModel& model, const MustOrder& order)
    : model_(model),
      order_(order),
      length_(model.thread_count(), 0),
      stop_(model.thread_count(), kNone),
      bounds_(model.thread_count()) {}

bool FeasibleSet::raise(std::uint32_t t, std::uint32_t length) {
  if (length > length_[t]) length_[t] = length;
  return stop_[t] == kNone || length_[t] <= stop_[t];
}

bool FeasibleSet::join(std::span<const std::uint32_t> clock, std::uint32_t own_thread) {
  for (std::uint32_t t = 0; t < clock.size(); ++t) {
    if (t != own_thread && !raise(t, clock[t])) return false;
  }
  return true;
}

bool FeasibleSet::stop_before(EventIndex e) {
  const std::uint32_t t = model_.thread[e], pos = model_.position[e];
  if (stop_[t] != kNone && stop_[t] != pos) return false;
  stop_[t] = pos;
  return raise(t, pos) && join(order_.reaching(e), t);
}

bool FeasibleSet::require(EventIndex e) {
  const std::uint32_t t = model_.thread[e];
  return contains(e) || (raise(t, model_.position[e] + 1) && join(order_.before(e), t));
}

bool FeasibleSet::require_prefix(std::uint32_t t, std::uint32_t length) {
  return length <= length_[t] || require(model_.at(t, length - 1));
}

std::uint32_t FeasibleSet::needed_value(std::uint32_t t) const {
  std::uint32_t known = bounds_[t].valued;
  if (order_.rule() == ReadRule::kAllDecide) known = std::max(known, bounds_[t].decided);
  for (std::uint32_t pos = length_[t]; pos > known; --pos) {
    const EventIndex w = model_.at(t, pos - 1);
    if (!model_.is_write(w)) continue;
    for (EventIndex r : model_.readers_of[w]) {
      if (contains(r) && decided(r)) return pos - 1;
    }
  }
  return 0;
}

void FeasibleSet::settle() {
  const std::uint32_t threads = model_.thread_count();
  for (std::uint32_t t = 0; t < threads; ++t) {
    // A thread that stops before an event goes on to execute it in the state that we look for.
    const std::uint32_t reached = stop_[t] != kNone ? stop_[t] + 1 : length_[t];
    bounds_[t].decided = std::max(bounds_[t].decided, model_.decided(t, reached));
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (std::uint32_t t = 0; t < threads; ++t) {
      const std::uint32_t needed = needed_value(t);
      if (needed <= bounds_[t].valued) continue;
      bounds_[t].valued = needed;
      changed = true;
    }
  }
}

}  // namespace reweave
