#include "predictor/model/must_order.h"

#include <algorithm>

namespace reweave {

void MustOrder::History::set(std::uint32_t position, std::span<const std::uint32_t> clock) {
  if (!positions_.empty() && positions_.back() == position) {
    std::copy(clock.begin(), clock.end(), clocks_.end() - width_);
    return;
  }
  positions_.push_back(position);
  clocks_.insert(clocks_.end(), clock.begin(), clock.end());
}

std::span<const std::uint32_t> MustOrder::History::at(std::uint32_t position) const {
  // While building, most questions are about the end.
  std::size_t index = positions_.size() - 1;
  if (positions_[index] > position) {
    const auto next = std::upper_bound(positions_.begin(), positions_.end(), position);
    index = static_cast<std::size_t>(next - positions_.begin()) - 1;
  }
  return {clocks_.data() + index * width_, width_};
}

MustOrder::MustOrder(const TraceModel& model, ReadRule rule) : model_(model), rule_(rule) {
  const std::uint32_t threads = model.thread_count();
  actual_.assign(threads, History(threads));
  value_.assign(threads, History(threads));
  if (model.has_data_reads) carried_value_.assign(threads, History(threads));
  if (!model.chains.empty()) blind_value_.assign(threads, History(threads));
  now_.assign(threads, std::vector<std::uint32_t>(threads, 0));
  pending_ = valued_ = carried_ = now_;
  users_.resize(model.locks.size());
  for (std::uint32_t lock = 0; lock < users_.size(); ++lock) {
    for (EventIndex e : model.locking_of[lock]) {  // by thread
      if (users_[lock].empty() || users_[lock].back() != model.thread[e]) users_[lock].push_back(model.thread[e]);
    }
  }
  for (EventIndex e = 0; e < model.size(); ++e) step(e);
  now_.clear();
  pending_.clear();
  valued_.clear();
  carried_.clear();
}

bool MustOrder::join(std::vector<std::uint32_t>& clock, std::uint32_t own, EventIndex e, bool value) const {
  const std::uint32_t t = model_.thread[e], pos = model_.position[e];
  if (clock[t] > pos && !value) return false;  // `e` is known, and so is everything before it
  const auto other = (value ? value_history(e) : actual_[t]).at(pos);
  bool changed = false;
  for (std::uint32_t i = 0; i < other.size(); ++i) {
    const std::uint32_t known = i == t ? pos + 1 : other[i];
    if (i == own || known <= clock[i]) continue;
    clock[i] = known;
    changed = true;
  }
  return changed;
}

bool MustOrder::end_sections_of(EventIndex acquire, std::uint32_t own, std::vector<std::uint32_t>& now) const {
  bool changed = false;
  const std::uint32_t lock = model_.object[acquire];
  for (std::uint32_t t : users_[lock]) {
    if (t == own || now[t] == 0) continue;
    EventIndex last = model_.last_before(model_.locking_of[lock], t, now[t]);
    while (last != kNone && model_.is_shared(last) && model_.is_shared(acquire)) {
      last = model_.last_before(model_.locking_of[lock], t, model_.position[last]);
    }
    // A section that did not end before `acquire` in the trace needs no end here.
    if (last == kNone || model_.link[last] == kNone || model_.link[last] > acquire) continue;
    if (model_.position[model_.link[last]] >= now[t]) changed |= join(now, own, model_.link[last], false);
  }
  return changed;
}

bool MustOrder::end_sections(EventIndex e) {
  const std::uint32_t t = model_.thread[e];
  bool changed = false;
  for (bool again = true; again;) {
    again = model_.is_acquire(e) && end_sections_of(e, t, now_[t]);
    again |= end_sections_around(e, now_[t]);
    changed |= again;
  }
  return changed;
}

bool MustOrder::end_sections_around(EventIndex e, std::vector<std::uint32_t>& now) const {
  bool changed = false;
  for (std::uint32_t node = model_.held[e]; node != 0; node = model_.held_nodes[node].parent) {
    changed |= end_sections_of(model_.held_nodes[node].acquire, model_.thread[e], now);
  }
  return changed;
}

std::vector<std::uint32_t> MustOrder::reaching(EventIndex e) const {
  const auto after = before(e);
  std::vector<std::uint32_t> now(after.begin(), after.end());
  if (!model_.is_acquire(e) && !model_.decides_at_once(e)) return now;
  const std::uint32_t t = model_.thread[e], pos = model_.position[e];
  // Start with the clock before `e`. Add what `e` needs, but not what it needs as an acquisition or for the value that
  // it reads.
  if (pos == 0) {
    now.assign(now.size(), 0);
  } else {
    const auto last = before(model_.at(t, pos - 1));
    now.assign(last.begin(), last.end());
  }
  for (const MustEdge& edge : model_.edges_into(t, pos, pos + 1)) join(now, t, edge.source, false);
  if (!model_.has_branches && pos > 0) {  // reaching `e` decides the reads of the previous instruction
    for (std::uint32_t p = model_.instruction_start(t, pos - 1); p < pos; ++p) {
      const EventIndex r = model_.at(t, p);
      const bool decides = model_.is_read(r) && model_.link[r] != kNone && !model_.carries_data(r, rule_);
      if (decides) join(now, t, model_.link[r], true);
    }
  }
  while (end_sections_around(e, now)) {
  }
  return now;
}

bool MustOrder::ordered_before_reaching(EventIndex a, EventIndex b) const {
  const std::uint32_t t = model_.thread[a];
  if (t == model_.thread[b]) return model_.position[a] < model_.position[b];
  return reaching(b)[t] > model_.position[a];
}

void MustOrder::step(EventIndex e) {
  const std::uint32_t t = model_.thread[e], pos = model_.position[e];
  auto& now = now_[t];
  auto& pending = pending_[t];
  bool changed = false;
  const bool decides = model_.has_branches ? model_.op[e] == Op::kBranch || model_.op[e] == Op::kEnd
                                           : (model_.flags[e] & kSameInstruction) == 0;
  if (decides) {
    for (std::uint32_t i = 0; i < now.size(); ++i) {
      if (i == t || pending[i] <= now[i]) continue;
      now[i] = pending[i];
      changed = true;
    }
  }
  for (const MustEdge& edge : model_.edges_into(t, pos, pos + 1)) changed |= join(now, t, edge.source, false);
  if (model_.is_read(e) && model_.link[e] != kNone) {
    if (model_.decides_at_once(e)) changed |= join(now, t, model_.link[e], true);
    if (!model_.carries_data(e, rule_)) join(pending, t, model_.link[e], true);
  }
  if ((changed && model_.held[e] != 0) || model_.is_acquire(e)) changed |= end_sections(e);
  if (changed) {
    actual_[t].set(pos, now);
    for (std::uint32_t i = 0; i < now.size(); ++i) pending[i] = std::max(pending[i], now[i]);
  }
  step_value(e, changed);
}

void MustOrder::step_value(EventIndex e, bool order_changed) {
  const std::uint32_t t = model_.thread[e], pos = model_.position[e];
  const bool reads = model_.is_read(e) && model_.link[e] != kNone;
  const auto step = [&](std::vector<std::uint32_t>& clock, History& history, bool joins) {
    bool changed = order_changed;
    if (joins) changed |= join(clock, t, model_.link[e], true);
    for (std::uint32_t i = 0; order_changed && i < clock.size(); ++i) clock[i] = std::max(clock[i], now_[t][i]);
    if (changed) history.set(pos, clock);
  };
  step(valued_[t], value_[t], reads && !model_.decides_nothing(e));
  if (!carried_value_.empty()) step(carried_[t], carried_value_[t], reads && !model_.is_blind(e));
  if (!model_.is_blind(e)) return;
  std::vector<std::uint32_t> needs = valued_[t];
  if (reads) join(needs, t, model_.link[e], true);
  blind_value_[t].set(pos, needs);
}

bool MustOrder::ordered(EventIndex a, EventIndex b) const {
  const std::uint32_t t = model_.thread[a];
  if (t == model_.thread[b]) return model_.position[a] < model_.position[b];
  return before(b)[t] > model_.position[a];
}

}  // namespace reweave
