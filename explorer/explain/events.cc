#include "explorer/explain/events.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace reweave {

namespace {

constexpr std::uint64_t kGranule = 8;

bool can_matter(const ChoiceNote& note) {
  switch (kind_of(note)) {
    case OpKind::kAccess:
    case OpKind::kAtomic:
    case OpKind::kLock:
    case OpKind::kWait:
    case OpKind::kNotify:
    case OpKind::kSemaphore:
    case OpKind::kBarrier:
    case OpKind::kOther:
      return note.object != 0;
    default:
      return false;
  }
}

// [first, last] of the granules that the event's object lies in. Of a block that is released, as of any object that is
// for synchronisation, the first stands for all but where the size is known.
std::pair<std::uint64_t, std::uint64_t> granules_of(const ChoiceNote& note) {
  constexpr std::uint64_t kMost = 1024;
  const bool sized = !is_sync(note) || is_release(note);
  const std::uint64_t bytes = sized ? std::max<std::uint64_t>(note.detail, 1) : 1;
  const std::uint64_t first = note.object / kGranule;
  return {first, std::min((note.object + bytes - 1) / kGranule, first + kMost)};
}

bool is_read(const ChoiceNote& note) { return !is_sync(note) && note.is_write == 0; }

using Positions = std::map<Arrival, std::size_t>;

Positions positions_of(const std::vector<Event>& events) {
  Positions positions;
  for (std::size_t i = 0; i < events.size(); i++) positions[events[i].name] = i;
  return positions;
}

// For each granule the events that use it, of those seen so far.
class LatestUses {
 public:
  explicit LatestUses(const std::vector<Event>& events) : events_(events) {}

  // Conflicting events of other threads that come before event `i` with no write between.
  std::set<std::size_t> before(std::size_t i) const {
    std::set<std::size_t> found;
    const auto [first, last] = granules_of(events_[i].note);
    for (std::uint64_t granule = first; granule <= last; granule++) {
      const auto uses = uses_.find(granule);
      if (uses == uses_.end()) continue;
      for (std::size_t k = uses->second.size(); k-- > 0;) {
        const Event& earlier = events_[uses->second[k]];
        if (conflict(earlier, events_[i])) found.insert(uses->second[k]);
        if (!is_read(earlier.note)) break;
      }
    }
    return found;
  }
  void add(std::size_t i) {
    const auto [first, last] = granules_of(events_[i].note);
    for (std::uint64_t granule = first; granule <= last; granule++) uses_[granule].push_back(i);
  }

 private:
  const std::vector<Event>& events_;
  std::map<std::uint64_t, std::vector<std::size_t>> uses_;
};

}  // namespace

namespace {

// The locks that threads hold, as the events of a run are read in order.
class HeldLocks {
 public:
  // Notes in `event` which lock its thread has taken first.
  void note_in(Event& event) const {
    const auto held = held_.find(event.name.thread);
    if (held == held_.end() || held->second.empty()) return;
    event.lock_taken = held->second.front().taken;
    event.lock_choice = held->second.front().choice;
  }
  // `note` is executed; true if a thread gives back the first lock that it had taken.
  bool execute(const ChoiceNote& note, const Arrival& name, std::size_t choice) {
    std::vector<Held>& held = held_[note.thread];
    if (kind_of(note) == OpKind::kLock) held.push_back({note.object, name, choice});
    if (kind_of(note) != OpKind::kUnlock) return false;
    const auto found = std::ranges::find(held, note.object, &Held::object);
    if (found == held.end()) return false;
    const bool is_first = found == held.begin();
    held.erase(found);
    return is_first;
  }

 private:
  struct Held {
    std::uint64_t object;
    Arrival taken;
    std::size_t choice;
  };
  std::map<ThreadId, std::vector<Held>> held_;
};

}  // namespace

std::vector<Event> events_of(const Observation& run) {
  std::vector<Event> events;
  std::map<std::pair<ThreadId, std::uint64_t>, std::uint32_t> arrivals;
  std::map<ThreadId, std::size_t> latest;  // event of each thread, for those that block in it and go on
  std::map<ThreadId, std::vector<std::size_t>> under_lock;  // events since the thread took its first lock
  HeldLocks locks;
  for (std::size_t i = 0; i < run.size(); i++) {
    const ChoiceNote& note = run[i];
    if (run.resumed(i)) {
      const auto blocked = latest.find(note.thread);
      if (blocked != latest.end() && kind_of(note) != OpKind::kWait) events[blocked->second].choice = i;
      continue;
    }
    const std::uint32_t number = ++arrivals[{note.thread, note.pc}];
    const Arrival name = {note.pc, number, note.thread, 0};
    latest.erase(note.thread);
    if (can_matter(note)) {
      latest[note.thread] = events.size();
      events.push_back({name, i, note, {}, 0, 0});
      locks.note_in(events.back());
      if (events.back().lock_taken) under_lock[note.thread].push_back(events.size() - 1);
    }
    if (!locks.execute(note, name, i)) continue;
    for (const std::size_t event : under_lock[note.thread]) events[event].lock_given = note.pc;
    under_lock[note.thread].clear();
  }
  std::ranges::stable_sort(events, {}, &Event::choice);
  return events;
}

const Event* find_event(const std::vector<Event>& events, const Arrival& name) {
  const auto found = std::ranges::find(events, name, &Event::name);
  return found == events.end() ? nullptr : &*found;
}

bool conflict(const Event& a, const Event& b) { return a.name.thread != b.name.thread && dependent(a.note, b.note); }

std::vector<EventPair> reordered(const std::vector<Event>& run, const std::vector<Event>& other) {
  const Positions there = positions_of(other);
  std::vector<EventPair> pairs;
  LatestUses uses(run);
  for (std::size_t i = 0; i < run.size(); i++) {
    const auto at = there.find(run[i].name);
    if (at == there.end()) continue;
    for (const std::size_t earlier : uses.before(i))
      if (there.at(run[earlier].name) > at->second) pairs.push_back({run[earlier], run[i]});
    uses.add(i);
  }
  return pairs;
}

std::optional<BrokenBlock> broken_block(const EventPair& pair, const std::vector<Event>& run,
                                        const std::vector<Event>& other) {
  const auto is_block = [&](const Event& begin, const Event& between, const Event& end) {
    if (!conflict(begin, between) || !conflict(between, end)) return false;
    const Event *first = find_event(other, begin.name), *middle = find_event(other, between.name),
                *last = find_event(other, end.name);
    if (first == nullptr || middle == nullptr || last == nullptr) return false;
    return middle->choice < first->choice || middle->choice > last->choice;
  };
  for (std::size_t i = run.size(); i-- > 0;) {  // the latest event of the thread of `then` before `first`
    const Event& event = run[i];
    if (event.choice >= pair.first.choice || event.name.thread != pair.then.name.thread) continue;
    if (is_block(event, pair.first, pair.then)) return BrokenBlock{event, pair.first, pair.then};
  }
  for (const Event& event : run) {  // the next event of the thread of `first` behind `then`
    if (event.choice <= pair.then.choice || event.name.thread != pair.first.name.thread) continue;
    if (is_block(pair.first, pair.then, event)) return BrokenBlock{pair.first, pair.then, event};
  }
  return {};
}

}  // namespace reweave
