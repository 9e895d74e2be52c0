#include "tests/predictor/run_oracle.h"

#include <algorithm>
#include <set>

namespace reweave::testing {
namespace {

constexpr std::size_t kNoEvent = ~std::size_t{0};

bool is_access(const TraceEvent& e) { return e.kind <= EventKind::kAtomicRmw; }
bool is_atomic(const TraceEvent& e) { return is_access(e) && e.kind >= EventKind::kAtomicLoad; }
bool reads(const TraceEvent& e) {
  return e.kind == EventKind::kRead || e.kind == EventKind::kAtomicLoad || e.kind == EventKind::kAtomicRmw;
}
bool writes(const TraceEvent& e) {
  return is_access(e) && e.kind != EventKind::kRead && e.kind != EventKind::kAtomicLoad;
}
// A receive takes one of the messages that have been sent.
bool gives(const TraceEvent& e) { return e.kind == EventKind::kSemPost || e.kind == EventKind::kSend; }
bool takes(const TraceEvent& e) { return e.kind == EventKind::kSemWait || e.kind == EventKind::kReceive; }
bool is_shared(const TraceEvent& e) { return e.aux == static_cast<std::uint8_t>(LockMode::kShared); }

}  // namespace

RunOracle::RunOracle(const std::vector<TraceEvent>& events, std::vector<bool> carries, std::uint32_t barrier)
    : events_(events), carries_(std::move(carries)), barrier_(barrier) {
  std::map<std::uint64_t, std::uint32_t> last;
  std::map<std::uint64_t, std::int64_t> value;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const TraceEvent& e = events[i];
    if (e.thread >= threads_.size()) threads_.resize(e.thread + 1u);
    place_.push_back(static_cast<std::uint32_t>(threads_[e.thread].size()));
    threads_[e.thread].push_back(i);
    has_branches_ |= e.kind == EventKind::kBranch;
    variable_.push_back(0);
    from_.push_back(0);
    if (is_access(e)) {
      variable_[i] = variables_.try_emplace(e.address, static_cast<std::uint32_t>(variables_.size())).first->second;
      from_[i] = last[e.address];
      if (writes(e)) last[e.address] = static_cast<std::uint32_t>(i + 1) * 2;
    }
    if (gives(e)) ++value[e.address];
    if (takes(e)) first_value_[e.address] = std::max(first_value_[e.address], -(--value[e.address]));
  }
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events[i].kind != EventKind::kFork) continue;
    if (events[i].extra >= threads_.size()) threads_.resize(events[i].extra + 1);
    fork_of_.resize(std::max<std::size_t>(fork_of_.size(), events[i].extra + 1), kNoEvent);
    fork_of_[events[i].extra] = i;
  }
  fork_of_.resize(threads_.size(), kNoEvent);
}

std::vector<std::uint32_t> RunOracle::State::key() const {
  std::vector<std::uint32_t> result = done;
  result.insert(result.end(), written.begin(), written.end());
  result.insert(result.end(), generation.begin(), generation.end());
  for (std::size_t t = 0; t < done.size(); ++t) {
    result.push_back(static_cast<std::uint32_t>(waiting[t]) * 4 + (tainted[t] ? 2 : 0) + (misled[t] ? 1 : 0));
  }
  return result;
}

RunOracle::State RunOracle::initial() const {
  const std::size_t threads = threads_.size();
  return {std::vector<std::uint32_t>(threads),
          std::vector<std::uint32_t>(variables_.size()),
          std::vector<std::uint32_t>(threads),
          std::vector<Waiting>(threads),
          std::vector<bool>(threads),
          std::vector<bool>(threads),
          0};
}

bool RunOracle::started(const State& state, ThreadId thread) const {
  return fork_of_[thread] == kNoEvent || executed(state, fork_of_[thread]);
}

bool RunOracle::may_decide(const State& state, std::size_t event) const {
  const EventKind kind = events_[event].kind;
  const bool decides = !has_branches_ || kind == EventKind::kBranch || kind == EventKind::kEnd;
  return !decides || !state.misled[events_[event].thread];
}

bool RunOracle::lock_free(const State& state, std::uint64_t address, bool shared) const {
  for (std::uint32_t t = 0; t < threads_.size(); ++t) {
    int held = 0;
    bool held_shared = false;
    for (std::uint32_t pos = 0; pos < state.done[t]; ++pos) {
      const TraceEvent& e = events_[threads_[t][pos]];
      const bool waits = e.kind == EventKind::kWaitBegin || e.kind == EventKind::kWaitEnd;
      if ((waits ? e.extra : e.address) != address) continue;
      if (e.kind == EventKind::kLock || e.kind == EventKind::kWaitEnd) {
        ++held;
        held_shared = e.kind == EventKind::kLock && is_shared(e);
      }
      if (e.kind == EventKind::kUnlock || e.kind == EventKind::kWaitBegin) --held;
    }
    if (held > 0 && !(held_shared && shared)) return false;
  }
  return true;
}

std::int64_t RunOracle::semaphore(const State& state, std::uint64_t address) const {
  const auto first = first_value_.find(address);
  std::int64_t value = first == first_value_.end() ? 0 : first->second;
  for (std::size_t i = 0; i < events_.size(); ++i) {
    if (events_[i].address != address || !executed(state, i)) continue;
    if (gives(events_[i])) ++value;
    if (takes(events_[i])) --value;
  }
  return value;
}

bool RunOracle::enabled(const State& state, std::size_t event) const {
  const TraceEvent& e = events_[event];
  if (!started(state, e.thread) || !may_decide(state, event)) return false;
  switch (e.kind) {
    case EventKind::kLock:
      return lock_free(state, e.address, is_shared(e));
    case EventKind::kWaitEnd:
      return (e.aux == 1 || state.waiting[e.thread] == Waiting::kNotified) && lock_free(state, e.extra, false);
    case EventKind::kSemWait:
    case EventKind::kReceive:
      return semaphore(state, e.address) > 0;
    case EventKind::kBarrierLeave:
      return state.entries >= (state.generation[e.thread] + 1) * barrier_;
    case EventKind::kJoin:
      return started(state, static_cast<ThreadId>(e.extra)) && state.done[e.extra] == threads_[e.extra].size();
    case EventKind::kAtomicLoad:
    case EventKind::kAtomicRmw:
      return carries_[event] || state.written[variable_[event]] == from_[event];
    default:
      return true;
  }
}

void RunOracle::read(State& state, std::size_t event) const {
  if (state.written[variable_[event]] == from_[event]) return;
  state.tainted[events_[event].thread] = true;
  if (!carries_[event]) state.misled[events_[event].thread] = true;
}

std::vector<RunOracle::State> RunOracle::after(const State& before, std::size_t event) const {
  const TraceEvent& e = events_[event];
  State state = before;
  ++state.done[e.thread];
  if (reads(e) && !is_atomic(e)) read(state, event);
  if (writes(e)) {
    state.written[variable_[event]] = static_cast<std::uint32_t>(event + 1) * 2 + (state.tainted[e.thread] ? 1 : 0);
  }
  if (e.kind == EventKind::kBarrierEnter) state.generation[e.thread] = state.entries++ / barrier_;
  if (e.kind == EventKind::kWaitBegin) state.waiting[e.thread] = Waiting::kYes;
  if (e.kind == EventKind::kWaitEnd) state.waiting[e.thread] = Waiting::kNo;
  if (e.kind != EventKind::kNotify) return {std::move(state)};
  std::vector<State> result;
  for (std::size_t t = 0; t < threads_.size(); ++t) {
    if (state.waiting[t] != Waiting::kYes) continue;
    State woken = state;
    woken.waiting[t] = Waiting::kNotified;
    if (e.aux == 1) {
      state = std::move(woken);
    } else {
      result.push_back(std::move(woken));
    }
  }
  if (result.empty()) result.push_back(std::move(state));
  return result;
}

bool RunOracle::stopped(const State& state, const std::vector<std::size_t>& stops) const {
  return std::all_of(stops.begin(), stops.end(), [&](std::size_t event) {
    const TraceEvent& e = events_[event];
    if (state.done[e.thread] != place_[event] || !started(state, e.thread) || !may_decide(state, event)) return false;
    return e.kind != EventKind::kWaitEnd || e.aux == 1 || state.waiting[e.thread] == Waiting::kNotified;
  });
}

bool RunOracle::feasible(const RunQuery& query) const {
  const auto& [sequence, stops] = query;
  std::set<std::vector<std::uint32_t>> seen;
  std::vector<State> todo{initial()};
  while (!todo.empty()) {
    const State state = std::move(todo.back());
    todo.pop_back();
    const bool all = std::all_of(sequence.begin(), sequence.end(), [&](std::size_t e) { return executed(state, e); });
    if (all && stopped(state, stops)) return true;
    for (std::size_t t = 0; t < threads_.size(); ++t) {
      if (state.done[t] == threads_[t].size()) continue;
      const std::size_t event = threads_[t][state.done[t]];
      if (std::find(stops.begin(), stops.end(), event) != stops.end() || !enabled(state, event)) continue;
      const auto place = std::find(sequence.begin(), sequence.end(), event);
      if (place != sequence.end() && place != sequence.begin() && !executed(state, *(place - 1))) continue;
      for (State& next : after(state, event)) {
        if (seen.insert(next.key()).second) todo.push_back(std::move(next));
      }
    }
  }
  return false;
}

void RunOracle::explore() {
  std::set<std::vector<std::uint32_t>> seen;
  reachable_ = {initial()};
  for (std::size_t i = 0; i < reachable_.size(); ++i) {
    for (std::size_t t = 0; t < threads_.size(); ++t) {
      if (reachable_[i].done[t] == threads_[t].size()) continue;
      const std::size_t event = threads_[t][reachable_[i].done[t]];
      if (!enabled(reachable_[i], event)) continue;
      for (State& next : after(reachable_[i], event)) {
        if (seen.insert(next.key()).second) reachable_.push_back(std::move(next));
      }
    }
  }
}

bool RunOracle::can_stop_before(const std::vector<std::size_t>& stops) const {
  return std::any_of(reachable_.begin(), reachable_.end(), [&](const State& s) { return stopped(s, stops); });
}

}  // namespace reweave::testing
