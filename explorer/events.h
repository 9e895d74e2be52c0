// What a run did, as events that can be found again in other runs of the program, and which of them come in another
// order there.
#pragma once

#include <optional>
#include <vector>

#include "explorer/observation.h"
#include "explorer/strategies/goals.h"

namespace reweave {

// A lock that a thread holds.
struct TakenLock {
  std::uint64_t object;
  Arrival taken;
  std::size_t choice;  // index of the choice with which it was taken
};

// An operation whose order among those of other threads can matter: an access, a lock taken, a wait, a wake, a release.
struct Event {
  Arrival name = {};       // the same in every run of the program that comes to it
  std::size_t choice = 0;  // index in the observation of the choice with which it was executed; of a wait, begun
  ChoiceNote note = {};
  std::vector<TakenLock> locks = {};  // that the thread holds meanwhile, in the order in which it took them
  std::uint64_t lock_given = 0;       // the code that gives back the first of them; 0: unknown

  // Where the thread has to be held back so that others can still take its locks.
  const Arrival& entry() const { return locks.empty() ? name : locks.front().taken; }
  std::size_t entry_choice() const { return locks.empty() ? choice : locks.front().choice; }
};

// In the order of execution.
std::vector<Event> events_of(const Observation& run);
// The event of that name; null if the run has none.
const Event* find_event(const std::vector<Event>& events, const Arrival& name);
// The order of the two can matter: one object, not two reads, different threads.
bool conflict(const Event& a, const Event& b);

// Two events of different threads, in the order that they have in the run that is explained.
struct EventPair {
  Event first, then;
};
// Conflicting pairs with no write of their object between them in one of the runs which come in the opposite order in
// the other. What `run` has not come to, for it had ended, counts as coming last; other events that only one of the
// runs has are passed over. By the place of `then` in `run`.
std::vector<EventPair> reordered(const std::vector<Event>& run, const std::vector<Event>& other);

// Conflicting pairs with no write of their object between them.
std::vector<EventPair> direct_pairs(const std::vector<Event>& run);

// Other pairs on the objects of `direct` that come in the opposite order in `other`, with writes between them: up to
// `most`, the latest first. One of them may be what the program's conditions depend on.
std::vector<EventPair> indirectly_reordered(const std::vector<EventPair>& direct, const std::vector<Event>& run,
                                            const std::vector<Event>& other, std::size_t most);

// Two events of one thread with one of another thread between them that conflicts with both: what the thread does there
// looks as if it were to be done without interruption (Park, Vuduc, Harrold, ICSE 2010).
struct BrokenBlock {
  Event begin, between, end;
};
// The blocks of `run` that `pair` breaks: in `run`, and not in `other`. At most two: of either thread.
std::vector<BrokenBlock> broken_blocks(const EventPair& pair, const std::vector<Event>& run,
                                       const std::vector<Event>& other);

}  // namespace reweave
