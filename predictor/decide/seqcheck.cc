#include "predictor/decide/seqcheck.h"

#include <algorithm>

namespace reweave {
namespace {

// Orientations tried after a linearisation fails its check; each costs another linearisation.
constexpr int kMaxRepairs = 64;
// The factor by which each look of refuted() exceeds the previous one, and the number of looks.
constexpr std::uint32_t kLookGrowth = 8;
constexpr int kLooks = 2;

}  // namespace

struct SeqCheck::State {
  State(const TraceModel& model, const MustOrder& order, const OrderQuery& asked, std::vector<std::uint32_t> start)
      : query(asked), set(model, order), closure(model, set, std::move(start)) {}

  const OrderQuery& query;
  FeasibleSet set;
  Closure closure;
  EventIndex window_start = 0;
  Ends ends = Ends::kNever;
  bool only_forced = false;                // make no choices; sections that need one stay open
  Ends other_choice = Ends::kNever;        // the next policy that would have decided otherwise
  std::vector<EventIndex> undecided_open;  // of each pair of these sections one has to end; which one is not known
};

bool SeqCheck::grow_base(State& state, EventIndex window_start) const {
  state.window_start = window_start;
  for (std::uint32_t t = 0; t < model_.thread_count(); ++t) {
    if (!state.set.require_prefix(t, state.closure.start(t))) return false;
  }
  return true;
}

bool SeqCheck::demand(State& state) const {
  for (EventIndex e : state.query.stops) {
    if (!state.set.stop_before(e)) return false;
  }
  for (EventIndex e : state.query.sequence) {
    if (!state.set.require(e)) return false;
  }
  return state.query.seen == kNone || state.set.require(state.query.seen);
}

Verdict SeqCheck::check(const OrderQuery& query, EventIndex window_start) const {
  bool chose = false;
  for (Ends policy = Ends::kNever;;) {
    Ends other = Ends::kNever;
    Verdict verdict = attempt(query, window_start, policy, other);
    const bool settled = verdict.answer == Feasibility::kFeasible || verdict.answer == Feasibility::kStopped;
    if (settled || other == Ends::kNever) {
      const bool greedy = chose && model_.thread_count() > 2 && verdict.answer == Feasibility::kInfeasible;
      if (greedy) verdict.answer = Feasibility::kGaveUp;
      return verdict;
    }
    chose = true;
    policy = other;
  }
}

// Takes in the required events and adds the order that the query asks for. False if that is impossible.
bool SeqCheck::start(State& state, EventIndex window_start) const {
  if (!demand(state) || !grow_base(state, window_start)) return false;
  if (stop_) state.closure.stop_when(&stop_);
  state.set.settle();
  const auto& sequence = state.query.sequence;
  for (std::size_t i = 1; i < sequence.size(); ++i) state.closure.add(sequence[i - 1], sequence[i]);
  return true;
}

bool SeqCheck::refuted(const OrderQuery& query) const {
  std::uint32_t events = first_look_;
  for (int look = 0; look < kLooks; ++look, events *= kLookGrowth) {
    State state(model_, order_, query, starts(0));
    state.only_forced = true;
    if (!start(state, 0)) return true;
    state.closure.only_last(events);
    state.closure.extend();
    if (!close_all(state)) return !state.closure.stopped();
  }
  return false;
}

std::uint64_t SeqCheck::cost(const OrderQuery& query, EventIndex window_start) const {
  State state(model_, order_, query, starts(window_start));
  if (!demand(state) || !grow_base(state, window_start)) return 0;
  std::uint64_t events = 1;
  for (std::uint32_t t = 0; t < model_.thread_count(); ++t) events += state.set.length(t) - state.closure.start(t);
  return events;
}

std::vector<std::uint32_t> SeqCheck::starts(EventIndex window_start) const {
  std::vector<std::uint32_t> start;
  for (const auto& events : model_.threads) {
    start.push_back(
        static_cast<std::uint32_t>(std::lower_bound(events.begin(), events.end(), window_start) - events.begin()));
  }
  return start;
}

Verdict SeqCheck::attempt(const OrderQuery& query, EventIndex window_start, Ends ends, Ends& other) const {
  State state(model_, order_, query, starts(window_start));
  state.ends = ends;
  if (!start(state, window_start)) return {};
  state.closure.extend();
  const bool closed = close_all(state);
  other = state.other_choice;
  if (state.closure.stopped()) return {Feasibility::kStopped, {}};
  if (!closed) return {};
  for (int repairs = 0; repairs <= kMaxRepairs; ++repairs) {
    auto witness = linearise(state);
    const Violation violation = check_witness(model_, query, witness);
    if (violation.kind == Violation::kNothing) return {Feasibility::kFeasible, std::move(witness)};
    if (!repair(state, violation) || !close_all(state)) break;
  }
  if (state.closure.stopped()) return {Feasibility::kStopped, {}};
  return {Feasibility::kGaveUp, {}};
}

// Closes the order of the events taken in, and ends the sections that have to end for it. False if that is impossible.
bool SeqCheck::close_known(State& state) const {
  while (true) {
    if (!show_write(state) || !state.closure.close()) return false;
    if (state.closure.wanted_sections().empty()) return true;
    if (!end_wanted(state)) return false;
  }
}

bool SeqCheck::close_all(State& state) const {
  do {
    if (!close_known(state)) return false;
  } while (!settle_open_sections(state));
  return true;
}

// Orders the write that a stopped read must see after all other writes of its variable. False if that is impossible.
bool SeqCheck::show_write(State& state) const {
  if (state.query.seen_by == kNone) return true;
  const EventIndex seen = state.query.seen;
  const auto writes = model_.writes_of[model_.object[state.query.seen_by]];
  for (std::uint32_t t = 0; t < model_.thread_count(); ++t) {
    const EventIndex last = model_.last_before(writes, t, state.set.length(t));
    if (last == kNone || last == seen) continue;
    if (seen == kNone || t == model_.thread[seen]) return false;
    if (!state.closure.reaches(last, seen)) state.closure.add(last, seen);
  }
  return true;
}

bool SeqCheck::end_wanted(State& state) const {
  for (EventIndex acquire : state.closure.wanted_sections()) {
    const EventIndex release = model_.link[acquire];
    if (release == kNone || !state.set.require(release)) return false;
  }
  // The rule that asked for the end of the section applies again, now with the end.
  state.closure.wanted_sections().clear();
  state.set.settle();
  state.closure.extend();
  return true;
}

bool SeqCheck::settle_open_sections(State& state) const {
  state.undecided_open.clear();
  bool settled = true;
  for (std::uint32_t t = 0; t < model_.thread_count(); ++t) {
    for (std::uint32_t node = model_.held_after(t, state.set.length(t)); node != 0;
         node = model_.held_nodes[node].parent) {
      for (std::uint32_t other = 0; other < model_.thread_count(); ++other) {
        if (other != t) order_open(state, model_.held_nodes[node].acquire, other);
      }
    }
  }
  if (!state.closure.wanted_sections().empty() || state.closure.has_work()) settled = false;
  if (!settled || state.undecided_open.empty() || state.only_forced) return settled;
  // The only free choice: end the section that came first in the trace, unless its thread has to stop inside.
  auto& open = state.undecided_open;
  std::sort(open.begin(), open.end());
  auto may_end = [&](EventIndex a) { return model_.link[a] != kNone && !state.set.stops(model_.thread[a]); };
  auto choice = std::find_if(open.begin(), open.end(), may_end);
  state.closure.wanted_sections().push_back(choice == open.end() ? open.front() : *choice);
  return false;
}

// Orders the open section of acquisition `open` after all sections of its lock in thread `other`.
void SeqCheck::order_open(State& state, EventIndex open, std::uint32_t other) const {
  auto& wanted = state.closure.wanted_sections();
  const auto acquires = model_.locking_of[model_.object[open]];
  EventIndex last = model_.last_before(acquires, other, state.set.length(other));
  while (last != kNone && model_.is_shared(last) && model_.is_shared(open)) {
    last = model_.last_before(acquires, other, model_.position[last]);
  }
  if (last == kNone) return;
  const EventIndex release = model_.link[last];
  const bool ends = release != kNone && state.set.contains(release);
  if (!state.closure.in_window(open)) {  // was held before the window; nobody takes the lock until it is released
    if (state.closure.in_window(last)) wanted.push_back(open);
  } else if (ends) {
    if (state.closure.reaches(release, open)) return;
    // If the open section stays open, it comes after `last`. It may also end, but that needs more events.
    const bool may_end = model_.link[open] != kNone && !state.set.stops(model_.thread[open]);
    const Ends needed = open < last ? Ends::kEarlier : Ends::kAll;  // the first policy that ends it
    if (may_end && state.only_forced) return;
    if (may_end && state.ends >= needed) {
      wanted.push_back(open);
    } else {
      if (may_end && (state.other_choice == Ends::kNever || needed < state.other_choice)) state.other_choice = needed;
      state.closure.add(release, open);
    }
  } else if (!state.closure.in_window(last)) {
    wanted.push_back(last);
  } else {
    const OrderGraph& graph = state.closure.graph();
    const auto reaches_into = [&](EventIndex a, std::uint32_t t) {
      return graph.successor({model_.thread[a], model_.position[a]}, t) < state.set.length(t);
    };
    if (reaches_into(last, model_.thread[open])) {
      wanted.push_back(last);
    } else if (reaches_into(open, other)) {
      wanted.push_back(open);
    } else {
      state.undecided_open.push_back(last);
    }
  }
}

bool SeqCheck::repair(State& state, const Violation& violation) const {
  const auto prefer = [&](EventIndex a, EventIndex b, EventIndex c, EventIndex d, bool first) {
    const bool can_first = a != kNone && !state.closure.reaches(b, a);
    const bool can_second = c != kNone && !state.closure.reaches(d, c);
    if (!can_first && !can_second) return false;
    if (can_first && (first || !can_second)) {
      state.closure.add(a, b);
    } else {
      state.closure.add(c, d);
    }
    return true;
  };
  if (violation.kind == Violation::kWrongWrite) {
    const EventIndex r = violation.event, actual = violation.other, w = model_.link[r];
    if (actual == kNone) return false;
    return prefer(r, actual, w == kNone ? kNone : actual, w, r < actual);
  }
  if (violation.kind == Violation::kLockHeld) {
    const EventIndex a = violation.other, b = violation.event;
    const EventIndex a_end = model_.link[a], b_end = model_.link[b];
    auto inside = [&](EventIndex e) { return e != kNone && state.set.contains(e) ? e : kNone; };
    return prefer(inside(a_end), b, inside(b_end), a, a < b);
  }
  return false;
}

Reordering SeqCheck::linearise(const State& state) const {
  const std::uint32_t threads = model_.thread_count();
  Reordering witness{state.window_start, {}};
  std::vector<std::uint32_t> done(threads);
  std::size_t total = 0;
  for (std::uint32_t t = 0; t < threads; ++t) {
    done[t] = state.closure.start(t);
    total += state.set.length(t) - done[t];
  }
  witness.tail.reserve(total);
  const OrderGraph& graph = state.closure.graph();
  // By thread. The thread's next event does not wait for any thread below `other`. It waits for the first `events`
  // events of `other`.
  struct Wait {
    std::uint32_t other = 0, events = 0;
  };
  std::vector<Wait> waits(threads);
  const auto ready = [&](std::uint32_t t) {
    Wait& wait = waits[t];
    for (; wait.other < threads; ++wait.other, wait.events = 0) {
      if (wait.events == 0 && wait.other != t) wait.events = graph.predecessor({t, done[t]}, wait.other) + 1;
      if (wait.events > done[wait.other]) return false;
    }
    return true;
  };
  // Execute the earliest next event, by the order of the trace, among those that are ready.
  while (witness.tail.size() < total) {
    EventIndex next = kNone;
    for (std::uint32_t t = 0; t < threads; ++t) {
      if (done[t] < state.set.length(t) && model_.at(t, done[t]) < next && ready(t)) next = model_.at(t, done[t]);
    }
    if (next == kNone) return {state.window_start, {}};
    ++done[model_.thread[next]];
    waits[model_.thread[next]] = {};
    witness.tail.push_back(next);
  }
  return witness;
}

}  // namespace reweave
