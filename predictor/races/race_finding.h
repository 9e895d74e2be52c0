// What ThreadSanitizer would report of a run, as data: race_text.h makes text of it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "formats/event.h"
#include "predictor/races/call_tree.h"

namespace reweave {

enum class RaceKind : std::uint8_t {
  kRace,
  kUseAfterFree,
  kThreadLeak,
  kDestroysLocked,
  kBadUnlock,
  kLockOrder,
  kVirtualTableRace,
  kVirtualUseAfterFree,
};

// The function of the C library that is on top of a stack, for whoever reads reports.
enum class TopFunction : std::uint8_t { kNone, kMalloc, kFree, kCreate, kInit, kDestroy, kLock, kUnlock };

struct NamedPlace {
  CodePlace place;
  TopFunction top = TopFunction::kNone;

  bool operator==(const NamedPlace&) const = default;
};

const char* kind_name(RaceKind kind);

// Where a lock was made, or first used.
struct LockOrigin {
  std::uint64_t address = 0;
  NamedPlace made;
};

struct LockHeld {
  std::uint32_t lock = 0;  // index in RaceFindings::locks
  bool exclusive = true;

  bool operator==(const LockHeld&) const = default;
};

struct RacingAccess {
  NamedPlace where;
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;
  ThreadId thread = 0;
  bool write = false, atomic = false;
  std::vector<LockHeld> held;
};

struct BlockOrigin {
  std::uint64_t address = 0, bytes = 0;
  ThreadId thread = 0;
  NamedPlace made;
  bool is_stack = false;  // of thread `thread`
};

struct RaceFinding {
  RaceKind kind = RaceKind::kRace;
  std::uint16_t process = 0;
  std::uint64_t event = 0;             // of the trace, at which it showed
  std::vector<RacingAccess> accesses;  // the later one first
  std::vector<NamedPlace> stacks;      // of what is no access
  std::vector<ThreadId> threads;       // that the report tells the start of; of an order of locks: who took each
  std::vector<std::uint32_t> locks;    // that the report is about
  std::uint64_t address = 0;           // that it is about
  std::optional<BlockOrigin> block;    // that the address is in
  std::uint64_t count = 1;             // thread leaks from one place
};

// How a thread came to be.
struct ThreadOrigin {
  NamedPlace made;
  ThreadId parent = 0;
  std::uint16_t process = 0;
  std::uint32_t number = 0;        // in its process, 0 for the first
  std::uint64_t ended_at = ~0ull;  // event
  bool is_made = false;            // by pthread_create, which is at `made`
  bool joined = false, detached = false;
};

struct RaceFindings {
  std::vector<RaceFinding> findings;
  std::vector<ThreadOrigin> threads;  // by id
  std::vector<LockOrigin> locks;
  CallTree calls;
  bool is_instrumented = false;  // a program of the run was
};

}  // namespace reweave
