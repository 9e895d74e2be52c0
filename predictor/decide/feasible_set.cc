#include "predictor/decide/feasible_set.h"

#include <algorithm>
#include <utility>

namespace reweave {

FeasibleSet::FeasibleSet(const TraceModel& model, const MustOrder& order)
    : model_(model),
      order_(order),
      length_(model.thread_count(), 0),
      stop_(model.thread_count(), kNone),
      bounds_(model.thread_count()),
      chain_reads_seen_(model.thread_count(), 0) {}

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
    if (model_.is_write(w) && is_needed(w)) return pos - 1;
  }
  return 0;
}

bool FeasibleSet::is_needed(EventIndex write) const {
  const auto readers = model_.readers_of[write];
  return std::any_of(readers.begin(), readers.end(), [&](EventIndex r) { return contains(r) && decided(r); });
}

std::uint32_t FeasibleSet::needed_carried(std::uint32_t t) const {
  const auto& writes = model_.carrying[t];
  auto end = std::lower_bound(writes.begin(), writes.end(), length_[t]);
  for (; end != writes.begin() && *(end - 1) > bounds_[t].carried; --end) {
    if (is_needed(model_.at(t, *(end - 1)))) return *(end - 1);
  }
  return 0;
}

// A plain read counts as decided here as soon as it is in the set: that it shares a variable with atomic updates is
// rare.
void FeasibleSet::need_chains(std::uint32_t t) {
  const auto& reads = model_.chain_reads[t];
  for (std::size_t& seen = chain_reads_seen_[t]; seen < reads.size() && contains(reads[seen]); ++seen) {
    const EventIndex update = model_.link[reads[seen]];
    const std::uint32_t chain = model_.chain[update];
    EventIndex& needed = chain_needed_[chain];
    if (update < needed) continue;
    needed = update + 1;
    raised_chains_.push_back(chain);
  }
}

void FeasibleSet::carry(std::uint32_t t, std::uint32_t end) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> todo{{t, end}};
  while (!todo.empty()) {
    const auto [thread, below] = todo.back();
    todo.pop_back();
    const std::uint32_t from = bounds_[thread].carried;
    if (below <= from) continue;
    bounds_[thread].carried = below;
    bounds_[thread].valued = std::max(bounds_[thread].valued, below);
    for (std::uint32_t pos = from; pos < below; ++pos) {
      const EventIndex r = model_.at(thread, pos);
      if (!model_.is_read(r) || !model_.decides_nothing(r)) continue;
      const EventIndex w = model_.link[r];
      if (w != kNone && model_.carries(w)) todo.push_back({model_.thread[w], model_.position[w]});
    }
  }
}

void FeasibleSet::settle() {
  const std::uint32_t threads = model_.thread_count();
  for (std::uint32_t t = 0; t < threads; ++t) {
    // A thread that stops before an event executes it next, in the state that we look for.
    const std::uint32_t reached = stop_[t] != kNone ? stop_[t] + 1 : length_[t];
    bounds_[t].decided = std::max(bounds_[t].decided, model_.decided(t, reached));
    need_chains(t);
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (std::uint32_t t = 0; t < threads; ++t) {
      const std::uint32_t needed = needed_value(t), carried = needed_carried(t);
      if (needed <= bounds_[t].valued && carried <= bounds_[t].carried) continue;
      bounds_[t].valued = std::max(bounds_[t].valued, needed);
      carry(t, carried);
      changed = true;
    }
  }
}

}  // namespace reweave
