// Identifies bugs by the kind and the place of the failure, and by the two operations that came in the wrong order.
//
// Places are compared by function name rather than by address or thread number. So a bug that shows in different
// threads with the same code, or on neighbouring lines, counts as one bug.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "explorer/run/run.h"
#include "explorer/words/places.h"

namespace reweave {

// The last place in the program itself that was reached by the thread that ended an observed run. Later operations of
// this thread are in libraries, for example in abort(). 0 for races, and for deadlocks and hangs, whose last thread is
// accidental.
std::uint64_t failure_site(const RunResult& run, const Places& places);

// The first relevant preemption of an observed run: the place before which the thread is stopped, and the place of the
// conflicting operation that runs while it is stopped (the last write, if there is one).
struct RacingPair {
  std::uint64_t stopped = 0, between = 0;  // 0: there is none
  std::uint64_t object = 0;                // the object of the conflict
};
RacingPair racing_pair(const Observation& run);

// The code of the latest release of the memory that the last operation of an observed run uses; 0 if there is none.
std::uint64_t release_site(const Observation& run);

struct FailureKey {
  // The place of the failure: its site; for deadlocks and hangs the functions in which threads are stuck; for memory
  // errors the functions of the use and of the release; for races the race's key.
  std::set<std::string> where;
  bool stands_still = false;  // a deadlock or a hang
  // The functions of the racing pair. Empty if `where` is sufficient, or if no preemption explains the failure.
  std::set<std::string> pair;
  std::string stopped;  // the function of the pair's first place
  std::uint64_t object = 0;
};

// The key of an observed run that failed; the pair is meaningful only if the schedule is minimal.
FailureKey key_of(const RunResult& run, Places& places);

// The functions of a key, for people; the same text if several programs have the same bug. `site`: failure_site() of
// the run. Empty if no functions are known.
std::string functions_of(const FailureKey& key, std::uint64_t site, Places& places);

// True if the key does not depend on the run's preemptions, so that the run can be compared without minimising it.
bool says_it_all(const RunResult& run);

// True if the keys show the same bug. The runs must have ended alike.
bool same_bug(const FailureKey& a, const FailureKey& b);

}  // namespace reweave
