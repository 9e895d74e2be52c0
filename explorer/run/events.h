// The events of a run, with names by which they can be found in other runs of the program, and pairs of events whose
// order differs between runs.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "explorer/run/observation.h"
#include "explorer/strategies/goals.h"

namespace reweave {

// A lock that a thread holds.
struct TakenLock {
  std::uint64_t object;
  Arrival taken;
  std::size_t choice;  // index of the choice with which it was taken
};

// An operation whose order relative to other threads can matter: an access, an acquisition, a wait, a wake-up or a
// release. A run's last operation counts even if it unlocks, because the run may have failed in it.
struct Event {
  Arrival name = {};       // the same in every run of the program that reaches it
  std::size_t choice = 0;  // index in the observation of the choice that executed it, or for a wait, began it
  ChoiceNote note = {};
  std::vector<TakenLock> locks = {};  // locks held during the event, in the order in which they were taken
  std::uint64_t lock_given = 0;       // the code that releases the first of them; 0: unknown
  bool is_beyond = false;             // the run ended before this event; `choice` is after its end

  // The arrival at which the thread must be held back so that others can still take its locks.
  const Arrival& entry() const { return locks.empty() ? name : locks.front().taken; }
  std::size_t entry_choice() const { return locks.empty() ? choice : locks.front().choice; }
};

// In the order of execution.
std::vector<Event> events_of(const Observation& run);
// The index of each event, by its name.
using Positions = std::map<Arrival, std::size_t>;
Positions positions_of(const std::vector<Event>& events);
// The event of that name; null if the run has none.
const Event* find_event(const std::vector<Event>& events, const Arrival& name);
// True if the order of the two can matter: same object, not two reads, different threads.
bool conflict(const Event& a, const Event& b);

// Two events of different threads, in their order in the explained run.
struct EventPair {
  Event first, then;

  // The same in every run.
  std::pair<Arrival, Arrival> names() const { return {first.name, then.name}; }
};
// Conflicting pairs of events that come in opposite orders in the two runs and that have, in one of the runs, no write
// of their object in between. Events that `run` did not reach because it had ended count as coming last; other events
// that only one run has are ignored. Sorted by the place of `then` in `run`.
std::vector<EventPair> reordered(const std::vector<Event>& run, const std::vector<Event>& other);

// Conflicting pairs without a write of their object in between.
std::vector<EventPair> direct_pairs(const std::vector<Event>& run);

// Other pairs on the objects of `direct` that come in the opposite order in `other`, with writes between them: up to
// `most`, the latest first. The program's conditions may depend on one of them.
std::vector<EventPair> indirectly_reordered(const std::vector<EventPair>& direct, const std::vector<Event>& run,
                                            const std::vector<Event>& other, std::size_t most);

// Two events of one thread with one of another thread between them that conflicts with both: the thread's code there
// looks as if it were meant to be atomic (Park, Vuduc, Harrold, ICSE 2010).
struct BrokenBlock {
  Event begin, between, end;
};
// The blocks that `pair` breaks in `run` but not in `other`. At most two, one for each of its threads.
std::vector<BrokenBlock> broken_blocks(const EventPair& pair, const std::vector<Event>& run,
                                       const std::vector<Event>& other);
// True if the block's thread creates or joins a thread within the block: then its code is not meant to be atomic.
bool spans_threads(const BrokenBlock& block, const Observation& run);

}  // namespace reweave
