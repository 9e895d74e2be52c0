// Finds pairs of accesses that may be a data race, without running the program. After the static analyzer and the
// pruner of ColFinder (Wu, Lu, Wang, Zhou, 2014), and after RELAY (Voung, Jhala, Lerner, 2007).
//
// Two accesses are suspected if they may be to the same memory, threads may make them at the same time, one of them
// writes, and no lock is held at both. Two atomic ones are not. The analysis is neither sound nor complete:
// docs/suspects.md says what it assumes. It does not see semaphores, signal handlers, or what libraries without a
// summary do. All elements of an array are one, and so are all blocks that one place allocates.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "predictor/suspects/program_summary.h"

namespace reweave {

struct SuspectSide {
  SummaryPlace place;  // in the user's code: of what is inlined from system headers, the line that uses it
  bool reads = false, writes = false, atomic = false, frees = false;
  std::set<std::string> threads;  // the functions in which threads begin that may make the access; "main" for the first
  std::set<std::string> locks;    // held each time
};

struct Suspect {
  std::string object;  // "balance", "queue.head", "a block that make allocated (list.c:12)"
  SuspectSide sides[2];
  std::string usual_lock;  // held at other accesses of the object, but not at both of these; may be empty
  unsigned usual = 0;      // the number of those places
  double score = 0;
};

// Why pairs of conflicting accesses are not suspected.
enum class NoSuspicion : std::uint8_t {
  kNotBeside,  // before the threads start, after they were waited for, or never at the same time
  kOwnObject,  // each thread has an object of its own
  kLocked,     // under a common lock
  kBarrier,    // a barrier is between them
  kOnce,       // by pthread_once, before all others
  kAtomic,     // both are atomic
  kLibrary,    // one of them is in a library's code that no code of the user calls
  kLastOwner,  // one of them releases the object, after an atomic count of owners
};
inline constexpr std::size_t kNoSuspicions = 8;
const char* text_of(NoSuspicion reason);

struct LeftOutPair {
  std::string object;
  SuspectSide sides[2];
  NoSuspicion reason;
};

struct SuspectReport {
  std::uint64_t modules = 0, functions = 0, accesses = 0;
  std::vector<std::string> threads;   // functions in which threads begin
  std::vector<Suspect> suspects;      // the most suspicious first
  std::vector<LeftOutPair> left_out;  // pairs of places
  std::uint64_t merged_states = 0;    // calls followed without their locks, because there were too many states
};

// Throws BadInput if the summaries are damaged, or there is no function main.
SuspectReport find_suspects(const std::vector<std::string>& sections);

}  // namespace reweave
