// A report of ThreadSanitizer's kind, as data; race_text.h turns it into text.
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

// The C library function shown on top of a stack.
enum class TopFunction : std::uint8_t { kNoFunction, kMalloc, kFree, kCreate, kInit, kDestroy, kLock, kUnlock };

struct NamedPlace {
  CodePlace place;
  TopFunction top = TopFunction::kNoFunction;

  bool operator==(const NamedPlace&) const = default;
};

const char* kind_name(RaceKind kind);

// The place where a lock was initialised or first used.
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
  bool is_stack = false;  // the stack of `thread`
};

struct RaceFinding {
  RaceKind kind = RaceKind::kRace;
  std::uint16_t process = 0;
  std::uint64_t event = 0;             // event of the trace at which it was found
  std::vector<RacingAccess> accesses;  // the later one first
  std::vector<NamedPlace> stacks;      // stacks of operations other than accesses
  std::vector<ThreadId>
      threads;  // threads whose creation the report shows; for a lock order: the thread that took each lock
  std::vector<std::uint32_t> locks;  // locks that the report is about
  std::uint64_t address = 0;         // address that the report is about
  std::optional<BlockOrigin> block;  // block that contains the address
  std::uint64_t count = 1;           // number of threads leaked from one place
};

// The creation of a thread.
struct ThreadOrigin {
  NamedPlace made;
  ThreadId parent = 0;
  std::uint16_t process = 0;
  std::uint32_t number = 0;        // in its process, 0 for the first
  std::uint64_t ended_at = ~0ull;  // event
  bool is_made = false;            // created by pthread_create, called at `made`
  bool joined = false, detached = false;
};

struct RaceFindings {
  std::vector<RaceFinding> findings;
  std::vector<ThreadOrigin> threads;  // by id
  std::vector<LockOrigin> locks;
  CallTree calls;
  bool is_instrumented = false;  // true for at least one program of the run
};

}  // namespace reweave
