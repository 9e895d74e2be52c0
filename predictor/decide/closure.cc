#include "predictor/decide/closure.h"

#include <algorithm>

namespace reweave {
namespace {

constexpr std::size_t kPatience = 4096;  // queued orders between two calls of stop_

}  // namespace

Closure::Closure(const TraceModel& model, const FeasibleSet& set, std::vector<std::uint32_t> start)
    : model_(model),
      set_(set),
      start_(std::move(start)),
      first_(start_),
      taken_(start_),
      decided_(model.thread_count()),
      graph_(model.thread_count()) {}

bool Closure::reaches(EventIndex a, EventIndex b) const {
  if (!in_window(a)) return model_.position[a] < start_[model_.thread[a]] && (in_window(b) || a <= b);
  return in_window(b) && graph_.reaches(place(a), place(b));
}

void Closure::push(EventIndex a, EventIndex b) {
  if (a != b && !left_out(a) && !left_out(b) && !reaches(a, b)) queue_.push_back({a, b});
}

// --- events that join the set ---

void Closure::only_last(std::uint32_t events) {
  for (std::uint32_t t = 0; t < model_.thread_count(); ++t) {
    taken_[t] = std::max(start_[t], set_.length(t) - std::min(set_.length(t), events));
  }
  first_ = taken_;
}

void Closure::extend() {
  const std::size_t begin = queue_.size();
  active_.clear();
  take_in_chains();
  for (std::uint32_t t = 0; t < model_.thread_count(); ++t) {
    const std::uint32_t from = taken_[t];
    taken_[t] = set_.length(t);
    if (taken_[t] > start_[t]) active_.push_back(t);
    for (std::uint32_t pos = from; pos < taken_[t]; ++pos) take_in(model_.at(t, pos));
    take_in_decided(t, from);
  }
  // Insert in trace order, which keeps the windows of successive insertions small.
  std::stable_sort(queue_.begin() + static_cast<std::ptrdiff_t>(begin), queue_.end(),
                   [](const Pair& a, const Pair& b) { return a.second < b.second; });
}

// Takes in the blind updates among earlier events that were not decided before.
void Closure::take_in_chains() {
  const auto& raised = set_.raised_chains();
  for (; chains_seen_ < raised.size(); ++chains_seen_) {
    const std::uint32_t chain = raised[chains_seen_];
    const auto& updates = model_.chains[chain];
    const EventIndex needed = set_.chain_needed(chain);
    EventIndex& known = chains_[chain];
    for (auto at = std::lower_bound(updates.begin(), updates.end(), known); at != updates.end() && *at < needed; ++at) {
      const std::uint32_t t = model_.thread[*at], pos = model_.position[*at];
      if (pos >= first_[t] && pos < taken_[t]) take_in_read(*at);
    }
    known = std::max(known, needed);
  }
}

// Takes in the decided reads among the events just taken in (from position `from` on), and those among earlier events
// that were not decided before.
void Closure::take_in_decided(std::uint32_t t, std::uint32_t from) {
  const FeasibleSet::Bounds before = decided_[t], now = set_.decided_length(t);
  decided_[t] = now;
  const auto look = [&](std::uint32_t begin, std::uint32_t end, const auto& concerns) {
    for (std::uint32_t pos = begin; pos < end; ++pos) {
      const EventIndex e = model_.at(t, pos);
      if (model_.is_read(e) && !model_.is_atomic(e) && set_.decided_with(e, now) && concerns(e)) take_in_read(e);
    }
  };
  const auto newly = [&](EventIndex e) { return !set_.decided_with(e, before); };
  const auto newly_deciding = [&](EventIndex e) { return !model_.decides_nothing(e) && newly(e); };
  const auto newly_carried = [&](EventIndex e) { return model_.decides_nothing(e) && newly(e); };
  look(std::max(first_[t], before.valued), std::min(from, now.valued), newly_deciding);
  look(std::max({first_[t], before.decided, now.valued}), std::min(from, now.decided), newly_deciding);
  look(std::max(first_[t], before.carried), std::min(from, now.carried), newly_carried);
  look(from, std::min(taken_[t], std::max(now.decided, now.valued)), [](EventIndex) { return true; });
}

void Closure::take_in(EventIndex e) {
  for (const MustEdge& edge : model_.edges_into(model_.thread[e], model_.position[e], model_.position[e] + 1)) {
    push(edge.source, edge.target);
    if (edge.before_source != kNone) push(edge.before_source, edge.source);
  }
  if (model_.is_write(e)) take_in_write(e);
  if (model_.is_read(e) && model_.is_atomic(e) && set_.decided(e)) take_in_read(e);
  if (model_.is_release(e) || model_.is_acquire(e)) take_in_lock(e);
}

void Closure::take_in_read(EventIndex r) {
  const EventIndex w = model_.link[r];
  const EventRow writes = model_.writes_of[model_.object[r]];
  const bool windowed = w != kNone && in_window(w);
  if (windowed) push(w, r);
  for (const EventRow::Part& part : writes.parts()) {
    const std::uint32_t t = part.thread;
    // Writes known to come before r come before w.
    const std::uint32_t before = graph_.predecessor(place(r), t);
    const std::uint32_t end = before == kNone ? 0 : before + (t == model_.thread[r] ? 0 : 1);
    const EventIndex earlier = model_.last_before(writes, t, end);
    if (earlier != kNone && in_window(earlier)) order_write_read(earlier, r);
    // Writes known to come after w come after r. Writes before the window come before everything in it.
    std::uint32_t from = start_[t];
    if (windowed) {
      const std::uint32_t after = graph_.successor(place(w), t);
      from = after == kNone ? kNone : std::max(from, after + (t == model_.thread[w] ? 1 : 0));
    }
    EventIndex later = from == kNone ? kNone : model_.first_from(writes, t, from, set_.length(t));
    while (later != kNone && later != r && model_.reads_alike(r, later))
      later = model_.first_from(writes, t, model_.position[later] + 1, set_.length(t));
    if (later != kNone && later != r) push(r, later);
  }
}

void Closure::take_in_write(EventIndex w) {
  const EventRow writes = model_.writes_of[model_.object[w]];
  for (const EventRow::Part& part : writes.parts()) {
    const std::uint32_t t = part.thread;
    const std::uint32_t before = graph_.predecessor(place(w), t);
    const std::uint32_t end = before == kNone ? start_[t] : before + (t == model_.thread[w] ? 0 : 1);
    const EventIndex earlier = model_.last_before(writes, t, end);
    if (earlier != kNone && in_window(earlier)) order_write_write(earlier, w);
  }
  // Reads of the variable's value from before the window come before w; the last one of each thread is enough.
  const EventRow reads = model_.reads_of[model_.object[w]];
  const auto of_before = [&](EventIndex r) { return model_.link[r] == kNone || !in_window(model_.link[r]); };
  for (const EventRow::Part& part : reads.parts()) {
    const std::uint32_t t = part.thread;
    const EventIndex first = model_.first_from(reads, t, start_[t], set_.length(t));
    if (first == kNone || !of_before(first)) continue;
    const auto mine = model_.slice(reads, t, start_[t], set_.length(t));
    auto end = std::partition_point(mine.begin(), mine.end(), of_before);
    const auto may_follow = [&](EventIndex r) { return r == w || !set_.decided(r) || model_.reads_alike(r, w); };
    while (end != mine.begin() && may_follow(*(end - 1))) --end;
    if (end != mine.begin()) push(*(end - 1), w);
  }
}

void Closure::take_in_lock(EventIndex e) {
  const EventIndex acquire = model_.is_acquire(e) ? e : model_.link[e];
  const EventRow acquires = model_.locking_of[model_.object[e]];
  for (const EventRow::Part& part : acquires.parts()) {
    const std::uint32_t t = part.thread;
    if (t == model_.thread[e]) continue;
    if (!in_window(acquire)) {  // the lock was held when the window started
      const EventIndex later = model_.first_from(acquires, t, start_[t], set_.length(t));
      if (later != kNone) order_sections(acquire, later);
      continue;
    }
    const std::uint32_t before = graph_.predecessor(place(e), t);
    if (before == kNone) continue;
    const EventIndex earlier = last_conflicting(acquires, t, before + 1, e);
    if (earlier != kNone) order_sections(earlier, acquire);
  }
}

// The last acquisition of thread `t` before position `end` that excludes lock operation `e`, or kNone.
EventIndex Closure::last_conflicting(const EventRow& acquires, std::uint32_t t, std::uint32_t end, EventIndex e) const {
  EventIndex a = model_.last_before(acquires, t, end);
  while (a != kNone && model_.is_shared(a) && model_.is_shared(e)) {
    a = model_.last_before(acquires, t, model_.position[a]);
  }
  return a;
}

// --- the closure ---

bool Closure::close() {
  for (std::size_t next = 0; next < queue_.size(); ++next) {
    if (next % kPatience == 0 && stop_ != nullptr && (*stop_)()) stopped_ = true;
    if (stopped_) return false;
    const Pair pair = queue_[next];
    if (pair.first == pair.second || reaches(pair.first, pair.second)) continue;
    if (reaches(pair.second, pair.first) || !insert_all(pair.first, pair.second)) return false;
  }
  queue_.clear();
  return true;
}

bool Closure::insert_all(EventIndex a, EventIndex b) {
  if (!in_window(b)) return false;  // events before the window stay first
  const Place from = place(a), to = place(b);
  sources_.clear();
  targets_.clear();
  for (const std::uint32_t t : active_) {
    const std::uint32_t source = graph_.predecessor(from, t), target = graph_.successor(to, t);
    if (source != kNone) sources_.push_back({t, source});
    if (target != kNone) targets_.push_back({t, target});
  }
  insert(from, to);
  for (const Place& source : sources_) {
    for (const Place& target : targets_) {
      if (source.thread != target.thread && !graph_.reaches(source, target)) insert(source, target);
    }
  }
  return true;
}

void Closure::insert(Place a, Place b) {
  const std::uint32_t known_source = graph_.predecessor(b, a.thread), known_target = graph_.successor(a, b.thread);
  const Window sources{a.thread, std::max(first_[a.thread], known_source == kNone ? 0 : known_source + 1),
                       a.position + 1};
  const Window targets{b.thread, b.position, std::min(known_target, set_.length(b.thread))};
  graph_.insert(a, b);
  apply_rules(sources, targets);
}

void Closure::apply_rules(const Window& sources, const Window& targets) {
  // Every newly ordered pair has one event in each window: walk the smaller.
  if (sources.size() <= targets.size()) {
    work_ += sources.size();
    for (std::uint32_t pos = sources.to; pos-- > sources.from;) {
      rules_from(model_.at(sources.thread, pos), sources, targets);
    }
  } else {
    work_ += targets.size();
    for (std::uint32_t pos = targets.from; pos < targets.to; ++pos) {
      rules_into(model_.at(targets.thread, pos), sources);
    }
  }
}

void Closure::rules_from(EventIndex e, const Window& sources, const Window& targets) {
  if (model_.is_write(e)) {
    const auto writes = model_.writes_of[model_.object[e]];
    const EventIndex later = model_.first_from(writes, sources.thread, model_.position[e] + 1, sources.to);
    if (later != kNone) return;  // the thread's last write of the variable is enough
    for (EventIndex r : model_.slice(model_.reads_of[model_.object[e]], targets.thread, targets.from, targets.to)) {
      if (!set_.decided(r)) continue;
      order_write_read(e, r);
      if (!model_.reads_alike(r, e)) break;
    }
    const EventIndex next = model_.first_from(writes, targets.thread, targets.from, targets.to);
    if (next != kNone) order_write_write(e, next);
  } else if (model_.is_acquire(e)) {
    const auto acquires = model_.locking_of[model_.object[e]];
    const EventIndex around = model_.last_before(acquires, targets.thread, targets.from);
    const EventIndex ends = around == kNone ? kNone : model_.link[around];
    if (ends != kNone && set_.contains(ends) && model_.position[ends] >= targets.from) order_sections(e, around);
    for (EventIndex a : model_.slice(acquires, targets.thread, targets.from, targets.to)) {
      order_sections(e, a);
      if (!model_.is_shared(e) || !model_.is_shared(a)) break;
    }
  }
}

void Closure::rules_into(EventIndex e, const Window& sources) {
  if (model_.is_access(e)) {
    const EventIndex w = model_.last_before(model_.writes_of[model_.object[e]], sources.thread, sources.to);
    if (w == kNone || !in_window(w)) return;
    if (model_.is_read(e) && set_.decided(e)) order_write_read(w, e);
    if (model_.is_write(e)) order_write_write(w, e);
  } else if (model_.is_release(e)) {
    const auto acquires = model_.locking_of[model_.object[e]];
    const EventIndex a = last_conflicting(acquires, sources.thread, sources.to, e);
    if (a != kNone) order_sections(a, model_.link[e]);
  } else if (model_.is_acquire(e)) {
    const auto acquires = model_.locking_of[model_.object[e]];
    const EventIndex a = last_conflicting(acquires, sources.thread, sources.to, e);
    if (a != kNone) order_sections(a, e);
  }
}

// Applies the rule for reads when w was ordered before the decided read r: w also comes before the write that r reads.
void Closure::order_write_read(EventIndex w, EventIndex r) {
  const EventIndex source = model_.link[r];
  if (model_.reads_alike(r, w)) return;
  if (source == kNone || !in_window(source)) {
    queue_.push_back({r, w});  // a cycle, which close() will report
    return;
  }
  push(w, source);
}

// Applies the rule for reads when w was ordered before another write of its variable: the decided reads of w also come
// before that write.
void Closure::order_write_write(EventIndex w, EventIndex next) {
  auto readers = model_.readers_of[w];
  while (!readers.empty()) {
    const ThreadId t = model_.thread[readers.back()];
    const auto first =
        std::partition_point(readers.begin(), readers.end(), [&](EventIndex e) { return model_.thread[e] < t; });
    auto end = std::partition_point(first, readers.end(), [&](EventIndex e) { return set_.contains(e); });
    while (end != first && !set_.decided(*(end - 1))) --end;
    if (end != first && !model_.reads_alike(*(end - 1), next))
      push(*(end - 1), next);  // the last one of a thread is enough
    readers = readers.first(static_cast<std::size_t>(first - readers.begin()));
  }
}

// Applies the rule for locks: the section of `acquire` starts before that of `other_acquire` ends, so it must end
// before `other_acquire`. If its end is not in the set, appends it to the wanted sections.
void Closure::order_sections(EventIndex acquire, EventIndex other_acquire) {
  if (acquire == other_acquire || (model_.is_shared(acquire) && model_.is_shared(other_acquire))) return;
  if (!model_.is_acquire(acquire) || !model_.is_acquire(other_acquire)) return;
  const EventIndex other_release = model_.link[other_acquire];
  const bool other_ends = other_release != kNone && set_.contains(other_release);
  if (in_window(acquire) && !other_ends && !reaches(acquire, other_acquire)) return;  // seqcheck.cc handles open ones
  const EventIndex release = model_.link[acquire];
  if (release != kNone && set_.contains(release)) {
    push(release, other_acquire);
  } else {
    wanted_.push_back(acquire);
  }
}

}  // namespace reweave
