#include "predictor/decide/sync_preserving.h"

#include <algorithm>

namespace reweave {

bool SyncPreserving::end_earlier_sections(FeasibleSet& set, std::uint32_t t, bool& grown) const {
  const std::uint32_t length = set.length(t);
  for (std::uint32_t node = model_.held_after(t, length); node != 0; node = model_.held_nodes[node].parent) {
    const EventIndex open = model_.held_nodes[node].acquire;
    const auto acquires = model_.locking_of[model_.object[open]];
    for (std::uint32_t other = 0; other < model_.thread_count(); ++other) {
      if (other == t || set.length(other) == 0) continue;
      EventIndex last = model_.last_before(acquires, other, set.length(other));
      while (last != kNone && last > open && model_.is_shared(last) && model_.is_shared(open)) {
        last = model_.last_before(acquires, other, model_.position[last]);
      }
      if (last == kNone || last < open) continue;
      if (model_.link[open] == kNone || !set.require(model_.link[open])) return false;
      grown = true;
      return true;  // the thread's open sections have changed
    }
  }
  return true;
}

bool SyncPreserving::close(FeasibleSet& set) const {
  for (bool grown = true; grown;) {
    grown = false;
    for (std::uint32_t t = 0; t < model_.thread_count(); ++t) {
      if (!end_earlier_sections(set, t, grown)) return false;
    }
  }
  return true;
}

std::optional<SyncPreserving::Plan> SyncPreserving::plan(const OrderQuery& query, bool at_end) const {
  Plan plan{FeasibleSet(model_, order_), kNone};
  for (EventIndex e : query.stops) {
    if (!plan.set.stop_before(e)) return {};
  }
  auto inner = std::span(query.sequence);
  if (at_end) {
    plan.last = inner.back();
    inner = inner.first(inner.size() - 1);
    // The last event runs after all others, so nothing may stop its thread, and it may read any value.
    if (!model_.is_access(plan.last) || model_.is_atomic(plan.last)) return {};
    if (plan.set.stops(model_.thread[plan.last]) || !plan.set.stop_before(plan.last)) return {};
  } else if (!std::is_sorted(inner.begin(), inner.end())) {
    return {};
  }
  for (EventIndex e : inner) {
    if (!plan.set.require(e)) return {};
  }
  if (query.seen != kNone && query.seen != plan.last && !plan.set.require(query.seen)) return {};
  if (!std::is_sorted(inner.begin(), inner.end()) || !close(plan.set)) return {};
  return plan;
}

bool SyncPreserving::possible(const OrderQuery& query) const {
  return (!query.sequence.empty() && plan(query, true)) || plan(query, false);
}

Reordering SyncPreserving::write_out(const Plan& plan) const {
  Reordering result{model_.size(), {}};
  EventIndex end = 0;
  std::size_t left_in = plan.last == kNone ? 0 : 1;
  for (std::uint32_t t = 0; t < model_.thread_count(); ++t) {
    const std::uint32_t length = plan.set.length(t);
    if (length < model_.thread_size(t)) result.prefix = std::min(result.prefix, model_.at(t, length));
    if (length > 0) end = std::max(end, model_.at(t, length - 1) + 1);
    left_in += length;
  }
  result.tail.reserve(left_in - std::min<std::size_t>(left_in, result.prefix));
  for (EventIndex e = result.prefix; e < end; ++e) {
    if (plan.set.contains(e)) result.tail.push_back(e);
  }
  if (plan.last != kNone) result.tail.push_back(plan.last);
  return result;
}

std::optional<Reordering> SyncPreserving::witness(const OrderQuery& query) const {
  for (bool at_end : {true, false}) {
    if (at_end && query.sequence.empty()) continue;
    const auto found = plan(query, at_end);
    if (!found) continue;
    Reordering result = write_out(*found);
    if (check_witness(model_, query, result).kind == Violation::kNothing) return result;
  }
  return {};
}

}  // namespace reweave
