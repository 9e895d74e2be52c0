#include "explorer/run/events.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "explorer/run/latest_uses.h"

namespace reweave {

namespace {

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

// Returns `event`, which only another run has, moved to after the end of `run`.
Event behind(const std::vector<Event>& run, const Event& event) {
  Event late = event;
  late.choice = run.empty() ? 0 : run.back().choice + 1;
  late.is_beyond = true;
  for (TakenLock& lock : late.locks)
    if (find_event(run, lock.taken) == nullptr) lock.choice = late.choice;
  return late;
}

// Tracks the locks that threads hold while the events of a run are read in order.
class HeldLocks {
 public:
  const std::vector<TakenLock>& of(ThreadId thread) { return held_[thread]; }
  // Takes an executed operation; returns true if the thread releases the first of its locks.
  bool execute(const ChoiceNote& note, const Arrival& name, std::size_t choice) {
    std::vector<TakenLock>& held = held_[note.thread];
    if (kind_of(note) == OpKind::kLock) held.push_back({note.object, name, choice});
    if (kind_of(note) != OpKind::kUnlock) return false;
    const auto found = std::ranges::find(held, note.object, &TakenLock::object);
    if (found == held.end()) return false;
    const bool is_first = found == held.begin();
    held.erase(found);
    return is_first;
  }

 private:
  std::map<ThreadId, std::vector<TakenLock>> held_;
};

}  // namespace

std::vector<Event> events_of(const Observation& run) {
  std::vector<Event> events;
  std::map<std::pair<ThreadId, std::uint64_t>, std::uint32_t> arrivals;
  std::map<ThreadId, std::size_t> latest;  // latest event of each thread, in case it blocks in it and resumes
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
    const bool fails_in_it =
        i + 1 == run.size() && kind_of(note) == OpKind::kUnlock;  // if the lock's memory was released
    if (can_matter(note) || fails_in_it) {
      latest[note.thread] = events.size();
      events.push_back({name, i, note, locks.of(note.thread)});
      if (!events.back().locks.empty()) under_lock[note.thread].push_back(events.size() - 1);
    }
    if (!locks.execute(note, name, i)) continue;
    for (const std::size_t event : under_lock[note.thread]) events[event].lock_given = note.pc;
    under_lock[note.thread].clear();
  }
  std::ranges::stable_sort(events, {}, &Event::choice);
  return events;
}

Positions positions_of(const std::vector<Event>& events) {
  Positions positions;
  for (std::size_t i = 0; i < events.size(); i++) positions[events[i].name] = i;
  return positions;
}

const Event* find_event(const std::vector<Event>& events, const Arrival& name) {
  const auto found = std::ranges::find(events, name, &Event::name);
  return found == events.end() ? nullptr : &*found;
}

bool conflict(const Event& a, const Event& b) { return a.name.thread != b.name.thread && dependent(a.note, b.note); }

namespace {

// Visits, for each event, its conflicting predecessors without a write in between, among the events that `is_meant`
// accepts.
template <typename Visit, typename Filter>
void visit_direct_pairs(const std::vector<Event>& events, const Filter& is_meant, const Visit& visit) {
  LatestUses uses(events);
  for (std::size_t i = 0; i < events.size(); i++) {
    if (!is_meant(events[i])) continue;
    for (const std::size_t earlier : uses.before(i)) visit(events[earlier], events[i]);
    uses.add(i);
  }
}

}  // namespace

std::vector<EventPair> direct_pairs(const std::vector<Event>& run) {
  std::vector<EventPair> pairs;
  visit_direct_pairs(
      run, [](const Event&) { return true; },
      [&](const Event& a, const Event& b) {
        pairs.push_back({a, b});
      });
  return pairs;
}

std::vector<EventPair> reordered(const std::vector<Event>& run, const std::vector<Event>& other) {
  const Positions here = positions_of(run), there = positions_of(other);
  std::map<std::pair<Arrival, Arrival>, EventPair> pairs;
  visit_direct_pairs(
      run, [&](const Event& event) { return there.contains(event.name); },
      [&](const Event& a, const Event& b) {
        if (there.at(a.name) > there.at(b.name)) pairs.insert({{a.name, b.name}, {a, b}});
      });
  visit_direct_pairs(
      other, [](const Event&) { return true; },
      [&](const Event& a, const Event& b) {
        const auto later = here.find(a.name), earlier = here.find(b.name);
        if (earlier == here.end()) return;
        // Events that `run` did not reach because it had ended count as coming after all of its events.
        if (later == here.end())
          pairs.insert({{b.name, a.name}, {run[earlier->second], behind(run, a)}});
        else if (later->second > earlier->second)
          pairs.insert({{b.name, a.name}, {run[earlier->second], run[later->second]}});
      });
  std::vector<EventPair> list;
  for (const auto& [names, pair] : pairs) list.push_back(pair);
  std::ranges::stable_sort(list, {}, [](const EventPair& pair) { return pair.then.choice; });
  return list;
}

std::vector<EventPair> indirectly_reordered(const std::vector<EventPair>& direct, const std::vector<Event>& run,
                                            const std::vector<Event>& other, std::size_t most) {
  constexpr std::size_t kMostOfObject = 200;
  const Positions there = positions_of(other);
  std::set<std::pair<Arrival, Arrival>> known;
  std::set<std::uint64_t> objects;
  for (const EventPair& pair : direct) {
    known.insert(pair.names());
    objects.insert(pair.first.note.object);
  }
  std::vector<EventPair> found;
  for (const std::uint64_t object : objects) {
    std::vector<const Event*> uses;
    for (std::size_t i = run.size(); i-- > 0 && uses.size() < kMostOfObject;)
      if (run[i].note.object == object && there.contains(run[i].name)) uses.push_back(&run[i]);
    for (std::size_t later = 0; later < uses.size(); later++)
      for (std::size_t earlier = later + 1; earlier < uses.size() && found.size() < most; earlier++) {
        const Event &a = *uses[earlier], &b = *uses[later];
        if (conflict(a, b) && there.at(a.name) > there.at(b.name) && known.insert({a.name, b.name}).second)
          found.push_back({a, b});
      }
  }
  return found;
}

std::vector<BrokenBlock> broken_blocks(const EventPair& pair, const std::vector<Event>& run,
                                       const std::vector<Event>& other) {
  const auto is_block = [&](const Event& begin, const Event& between, const Event& end) {
    if (!conflict(begin, between) || !conflict(between, end)) return false;
    const Event *first = find_event(other, begin.name), *middle = find_event(other, between.name),
                *last = find_event(other, end.name);
    if (middle == nullptr) return true;
    return (first != nullptr && middle->choice < first->choice) || (last != nullptr && middle->choice > last->choice);
  };
  std::vector<BrokenBlock> blocks;
  const auto add = [&](const Event& begin, const Event& between, const Event& end) {
    if (!is_block(begin, between, end)) return false;
    blocks.push_back({begin, between, end});
    return true;
  };
  for (std::size_t i = run.size(); i-- > 0;) {  // the latest event of the thread of `then` before `first`
    const Event& event = run[i];
    if (event.choice >= pair.first.choice || event.name.thread != pair.then.name.thread) continue;
    if (add(event, pair.first, pair.then)) break;
  }
  bool ended = false;
  for (const Event& event : run) {  // the next event of the thread of `first` after `then`
    if (event.choice <= pair.then.choice || event.name.thread != pair.first.name.thread) continue;
    ended = add(pair.first, pair.then, event);
    if (ended) break;
  }
  for (const Event& event : other) {  // ... which the run did not reach
    if (ended || event.name.thread != pair.first.name.thread || find_event(run, event.name) != nullptr) continue;
    ended = add(pair.first, pair.then, behind(run, event));
  }
  return blocks;
}

bool spans_threads(const BrokenBlock& block, const Observation& run) {
  for (std::size_t i = block.begin.choice; i < std::min(block.end.choice, run.size()); i++) {
    const OpKind kind = kind_of(run[i]);
    if (run[i].thread == block.begin.name.thread && (kind == OpKind::kCreate || kind == OpKind::kJoin)) return true;
  }
  return false;
}

}  // namespace reweave
