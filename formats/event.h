// The vocabulary of trace events. An event is one thing that one thread of the target did at one instant.
//
// Shared by the code inside the target (which packs events), the supervisor (which encodes them) and the predictor
// (which reads them). Plain data only: the target-side core is freestanding. Read next: formats/wire.h for the packing
// in shared memory, docs/recording-format.md for the bytes on disk.
#pragma once

#include <cstdint>

namespace reweave {

// Index of a thread in its recording: 0 is the first thread of the first process; indices are never reused.
using ThreadId = std::uint16_t;

// Kinds of events. The values are part of the trace format: append only.
// `address` is the object operated on (for memory: the first byte accessed).
enum class EventKind : std::uint8_t {
  kRead = 0,         // plain read of `extra` bytes at `address`
  kWrite = 1,        // plain write of `extra` bytes
  kAtomicLoad = 2,   // aux = memory order (C++ value), extra = bytes
  kAtomicStore = 3,  // same
  kAtomicRmw = 4,    // read-modify-write, successful; a failed compare-exchange is a kAtomicLoad
  kFence = 5,        // aux = memory order
  kLock = 6,         // acquired; aux = LockMode
  kUnlock = 7,       // released; aux = LockMode
  kWaitBegin = 8,    // condition wait: `address` = condition, extra = mutex (which it releases here)
  kWaitEnd = 9,      // wait over, mutex held again; aux = 1 if it timed out
  kNotify = 10,      // aux = 1 for notify-all
  kBarrierEnter = 11,
  kBarrierLeave = 12,
  kSemPost = 13,
  kSemWait = 14,      // succeeded
  kFork = 15,         // extra = ThreadId of the new thread
  kJoin = 16,         // extra = ThreadId of the joined thread
  kBegin = 17,        // first event of a thread
  kEnd = 18,          // last event of a thread
  kBranch = 19,       // control could have taken another path here
  kAlloc = 20,        // heap block `address`, extra = bytes; aux = kThreadStack: the stack of the thread forked next
  kFree = 21,         // heap block `address` released
  kCall = 22,         // function entered; site = the call's return address, address = 0
  kReturn = 23,       // function left
  kSyscall = 24,      // extra = system call number
  kLockRequest = 25,  // about to acquire `address`; aux = LockMode
  kStack = 26,        // extra = id of the call stack of the thread's later has_stack() events; 0: not known
  kSend = 27,         // put something into kernel object `address`: ordered before later kReceive events of it
  kReceive = 28,      // got something from kernel object `address`
  kHint = 29,         // for race reports only: aux = Hint, which defines address and extra
  kKindCount = 30,
};

// True for operations by which threads wait for each other. Their call stack is the one that the thread's last kStack
// names.
constexpr bool has_stack(EventKind kind) {
  constexpr std::uint64_t kKinds =
      1u << static_cast<int>(EventKind::kLock) | 1u << static_cast<int>(EventKind::kLockRequest) |
      1u << static_cast<int>(EventKind::kWaitBegin) | 1u << static_cast<int>(EventKind::kWaitEnd) |
      1u << static_cast<int>(EventKind::kNotify) | 1u << static_cast<int>(EventKind::kBarrierEnter) |
      1u << static_cast<int>(EventKind::kSemPost) | 1u << static_cast<int>(EventKind::kSemWait) |
      1u << static_cast<int>(EventKind::kJoin);
  return (kKinds >> static_cast<int>(kind) & 1) != 0;
}

// The mode in which a lock is held.
enum class LockMode : std::uint8_t { kExclusive = 0, kShared = 1, kTry = 2 };

// Bit of `aux` of a kRead or kWrite that shares the schedule point of the previous event, because a call such as memcpy
// is a single point.
inline constexpr std::uint8_t kSamePoint = 1;

// Bit of `aux` of a kWrite: the value is null. Of a kRead: the value is dereferenced without a null check.
inline constexpr std::uint8_t kNullValue = 2;

// Bit of `aux` that is derived from the machine code (formats/code/read_effects.h) and never stored in a trace file. Of
// a kRead or kAtomicRmw: no branch, address or call depends on the value read. Of a kWrite: the value written may
// depend on such a kRead.
inline constexpr std::uint8_t kOnlyData = 16;

// Bits of `aux` of a kWrite of one byte: it initialises (kMakesLock) or destroys (kEndsLock) the lock there. Both bits
// on an access of 8 bytes: it is to a virtual-table pointer.
inline constexpr std::uint8_t kMakesLock = 4;
inline constexpr std::uint8_t kEndsLock = 8;

// `aux` of a kSend or kReceive that does not go through a descriptor. ThreadSanitizer derives no order from it.
inline constexpr std::uint8_t kNoDescriptor = 1;

// `aux` of a kHint. Values are part of the trace format: append only.
enum class Hint : std::uint8_t {
  kCreatesThread = 0,  // the thread's next kFork happens in the call stack of this event; extra = 1: detached
  kDetaches = 1,       // address = the thread's handle
  kWritesFile = 2,     // wrote to a file through a descriptor, and so to any thread that reads files
  kReadsFile = 3,      // read from a file
  kIgnoresReads = 4,   // extra = 1: from here on, ignore the thread's reads; 0: count them again
  kIgnoresWrites = 5,  // likewise for its writes
  kIgnoresOrder = 6,   // likewise for the order that its synchronisation establishes
  kBenign = 7,         // races on the `extra` bytes at `address` are intended
};

// `aux` of a kCall: the program enters main, where explored runs begin. The event has no site.
inline constexpr std::uint8_t kEntersMain = 1;

// The kernel objects of kSend and kReceive have addresses from here on, in the order of their first use. No program has
// memory there. An object has the same address in all processes.
inline constexpr std::uint64_t kFirstKernelObject = std::uint64_t{1} << 47;

// `aux` of a kAlloc: not a heap block, but memory (possibly reused) that becomes the stack of a new thread.
inline constexpr std::uint8_t kThreadStack = 1;

inline constexpr std::uint64_t kSmallValues = std::uint64_t{1} << 15;
inline constexpr std::uint64_t kNumberedValue = std::uint64_t{1} << 63;

// One event as readers return it. `pc` is the address in the target after the instruction or call that caused it (a
// return address); `extra` is described with each kind.
struct TraceEvent {
  std::uint64_t address = 0;
  std::uint64_t pc = 0;
  std::uint64_t extra = 0;
  ThreadId thread = 0;
  EventKind kind = EventKind::kRead;
  std::uint8_t aux = 0;
  // With `has_value`, the bytes at `address` right before the access, lowest first; it has at most 8 bytes. So a read
  // got this value, and the write before it stored it. In a trace, values below kSmallValues stand for themselves. Each
  // of the others has a number with kNumberedValue. Two numbers at one address are equal only if the values are.
  bool has_value = false;
  std::uint64_t value = 0;
};

// True if the event belongs to the schedule point of an earlier event.
constexpr bool shares_point(const TraceEvent& event) {
  return (event.kind == EventKind::kRead || event.kind == EventKind::kWrite) && (event.aux & kSamePoint) != 0;
}

// True if a thread can be stopped before such an event; between these it runs freely.
constexpr bool is_schedule_point(const TraceEvent& event) {
  switch (event.kind) {
    case EventKind::kRead:
    case EventKind::kWrite:
      return !shares_point(event);
    case EventKind::kAtomicLoad:
    case EventKind::kAtomicStore:
    case EventKind::kAtomicRmw:
    case EventKind::kFence:
    case EventKind::kLock:
    case EventKind::kUnlock:
    case EventKind::kWaitBegin:
    case EventKind::kNotify:
    case EventKind::kBarrierEnter:
    case EventKind::kSemPost:
    case EventKind::kSemWait:
    case EventKind::kFork:  // the system call is the point
    case EventKind::kJoin:
    case EventKind::kFree:
      return true;
    default:
      return false;
  }
}

}  // namespace reweave
