// What makes two failures the same bug: how the run ended, where, and which two operations came in the wrong order.
//
// Names of functions rather than addresses or thread numbers tell places apart: a bug between equal threads, or between
// neighbouring lines, is one bug.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "explorer/places.h"
#include "explorer/run.h"

namespace reweave {

// The last place in the program itself that the thread which ended an observed run came to: what stands above it is
// the library's way to abort. 0 for deadlocks and hangs, whose last thread is accidental.
std::uint64_t failure_site(const RunResult& run, const Places& places);

// Of the first preemption of an observed run that matters: the place before which the thread is stopped, and that of
// the operation in between that conflicts with it, the last write if there is one.
struct RacingPair {
  std::uint64_t stopped = 0, between = 0;  // 0: there is none
  std::uint64_t object = 0;                // what they are in conflict about
};
RacingPair racing_pair(const Observation& run);

// Of the operation that broke an observed run: the latest release of the memory it is about. 0 if there is none.
std::uint64_t release_site(const Observation& run);

struct FailureKey {
  // Where: the site of the failure; of deadlocks and hangs the functions in which threads stand; of memory errors the
  // functions of the use and of the release.
  std::set<std::string> where;
  bool stands_still = false;  // a deadlock or a hang
  // The functions of the racing pair. Empty if where says it all, or if no preemption explains the failure.
  std::set<std::string> pair;
  std::string stopped;  // the function of the pair's first place
  std::uint64_t object = 0;
};

// Of an observed run that failed; the pair means something if its schedule is minimal.
FailureKey key_of(const RunResult& run, Places& places);

// The key is the same however many preemptions the run has, so that nothing need be made minimal to compare it.
bool says_it_all(const RunResult& run);

// For runs that ended alike (same_failure).
bool same_bug(const FailureKey& a, const FailureKey& b);

}  // namespace reweave
