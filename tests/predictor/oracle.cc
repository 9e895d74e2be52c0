#include "tests/predictor/oracle.h"

#include <algorithm>
#include <set>

namespace reweave::testing {

std::vector<std::uint32_t> Oracle::State::key() const {
  std::vector<std::uint32_t> result = done;
  result.insert(result.end(), written.begin(), written.end());
  for (bool bit : tainted) result.push_back(bit);
  for (bool bit : misled) result.push_back(bit);
  for (bool bit : carrying) result.push_back(bit);
  for (bool bit : lost) result.push_back(bit);
  return result;
}

Oracle::State Oracle::initial() const {
  std::size_t edges = 0;
  for (const auto& list : model_.edges) edges += list.size();
  return {
      std::vector<std::uint32_t>(model_.thread_count(), 0), std::vector<std::uint32_t>(model_.variables.size(), kNone),
      std::vector<bool>(model_.thread_count(), false),      std::vector<bool>(model_.thread_count(), false),
      std::vector<bool>(model_.thread_count(), false),      std::vector<bool>(edges, false)};
}

bool Oracle::edges_allow(const State& state, EventIndex e) const {
  std::size_t number = 0;
  for (const auto& list : model_.edges) {
    for (const MustEdge& edge : list) {
      if (edge.target == e) {
        if (state.done[model_.thread[edge.source]] <= model_.position[edge.source]) return false;
        if (state.lost[number]) return false;
      }
      ++number;
    }
  }
  return true;
}

bool Oracle::may_decide(const State& state, EventIndex e) const {
  if (!state.misled[model_.thread[e]]) return true;
  if (model_.has_branches) return model_.op[e] != Op::kBranch && model_.op[e] != Op::kEnd;
  return (model_.flags[e] & kSameInstruction) != 0;
}

bool Oracle::lock_free(const State& state, EventIndex acquire) const {
  for (std::uint32_t t = 0; t < model_.thread_count(); ++t) {
    for (std::uint32_t pos = 0; pos < state.done[t]; ++pos) {
      const EventIndex e = model_.at(t, pos);
      if (!model_.is_acquire(e) || model_.object[e] != model_.object[acquire]) continue;
      const EventIndex end = model_.link[e];
      const bool open = end == kNone || model_.position[end] >= state.done[t];
      if (open && !(model_.is_shared(e) && model_.is_shared(acquire))) return false;
    }
  }
  return true;
}

// True if the read gets the value that it got in the trace.
bool Oracle::reads_alike(const State& state, EventIndex read) const {
  const std::uint32_t written = state.written[model_.object[read]];
  if (written == kNone) return model_.reads_alike(read, kNone);
  return written % 2 == 0 && model_.reads_alike(read, written / 2);
}

bool Oracle::enabled(const State& state, std::uint32_t t) const {
  if (state.done[t] >= model_.thread_size(t)) return false;
  const EventIndex e = model_.at(t, state.done[t]);
  if (!edges_allow(state, e) || !may_decide(state, e)) return false;
  if (model_.op[e] == Op::kRequest) return false;
  if (model_.is_acquire(e)) return lock_free(state, e);
  if (model_.decides_at_once(e)) return reads_alike(state, e);
  return true;
}

void Oracle::execute(State& state, std::uint32_t t) const {
  const EventIndex e = model_.at(t, state.done[t]++);
  const bool misread = model_.is_read(e) && !reads_alike(state, e), blind = model_.is_blind(e);
  if (misread && !blind) {
    (model_.decides_nothing(e) ? state.carrying : state.tainted)[t] = true;
    if (!model_.carries_data(e, rule_)) state.misled[t] = true;
  }
  const bool tainted = state.tainted[t] || (state.carrying[t] && model_.carries(e)) || (misread && blind);
  if (model_.is_write(e)) state.written[model_.object[e]] = e * 2 + (tainted ? 1 : 0);
  std::size_t number = 0;
  for (const auto& list : model_.edges) {
    for (const MustEdge& edge : list) {
      if (edge.source == e && edge.before_source != kNone &&
          state.done[model_.thread[edge.before_source]] <= model_.position[edge.before_source]) {
        state.lost[number] = true;
      }
      ++number;
    }
  }
}

bool Oracle::shows(const State& state, const OrderQuery& query) const {
  if (query.seen_by != kNone) {
    const std::uint32_t written = state.written[model_.object[query.seen_by]];
    if ((written == kNone ? kNone : written / 2) != query.seen) return false;
  }
  const auto& stops = query.stops;
  return std::all_of(stops.begin(), stops.end(), [&](EventIndex e) {
    return state.done[model_.thread[e]] == model_.position[e] && edges_allow(state, e) && may_decide(state, e);
  });
}

bool Oracle::feasible(const OrderQuery& query) const {
  std::set<std::vector<std::uint32_t>> seen;
  std::vector<State> todo{initial()};
  const auto executed = [&](const State& s, EventIndex e) { return s.done[model_.thread[e]] > model_.position[e]; };
  while (!todo.empty()) {
    State state = std::move(todo.back());
    todo.pop_back();
    const bool all =
        std::all_of(query.sequence.begin(), query.sequence.end(), [&](EventIndex e) { return executed(state, e); });
    if (all && shows(state, query)) return true;
    for (std::uint32_t t = 0; t < model_.thread_count(); ++t) {
      if (!enabled(state, t)) continue;
      const EventIndex e = model_.at(t, state.done[t]);
      if (std::find(query.stops.begin(), query.stops.end(), e) != query.stops.end()) continue;
      auto in_sequence = std::find(query.sequence.begin(), query.sequence.end(), e);
      if (in_sequence != query.sequence.end() && in_sequence != query.sequence.begin() &&
          !executed(state, *(in_sequence - 1))) {
        continue;
      }
      State next = state;
      execute(next, t);
      if (seen.insert(next.key()).second) todo.push_back(std::move(next));
    }
  }
  return false;
}

void Oracle::explore() {
  std::set<std::vector<std::uint32_t>> seen;
  reachable_ = {initial()};
  for (std::size_t i = 0; i < reachable_.size(); ++i) {
    for (std::uint32_t t = 0; t < model_.thread_count(); ++t) {
      if (!enabled(reachable_[i], t)) continue;
      State next = reachable_[i];
      execute(next, t);
      if (seen.insert(next.key()).second) reachable_.push_back(std::move(next));
    }
  }
}

bool Oracle::reaches(const OrderQuery& query) const {
  return std::any_of(reachable_.begin(), reachable_.end(), [&](const State& s) { return shows(s, query); });
}

}  // namespace reweave::testing
