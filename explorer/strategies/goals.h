// Layouts of the data for goal-directed policies in the arena's goal area.
#pragma once

#include <cstdint>

#include "formats/event.h"

namespace reweave {

// One switch of a schedule: when `thread` has executed `tick` schedule points, `to` runs. The list is sorted by
// (thread, tick, free); switches with the same key happen in the list's order.
struct ScheduleStep {
  std::uint32_t tick;
  ThreadId thread;
  ThreadId to;
  std::uint16_t free;  // 1: `thread` cannot continue there (it blocks, yields or exits); 0: it is preempted
  std::uint16_t reserved;

  bool operator==(const ScheduleStep&) const = default;
};

// Policy `witness`: an array of TurnGoals, in order. In its turn `thread` runs until it has executed the operation at
// `pc` for the `arrivals`-th time since the turn began.
struct TurnGoal {
  std::uint64_t pc;
  std::uint32_t arrivals;
  ThreadId thread;
  std::uint16_t reserved;
};

enum class WitnessObstacle : std::uint64_t { kNone = 0, kNotThere = 1, kWaits = 2, kElsewhere = 3 };
// The progress of the policy `witness`, at the start of its state.
struct WitnessProgress {
  std::uint64_t next;           // the next turn; those before it were made or left out
  std::uint64_t skipped;        // turns left out
  std::uint64_t first_skipped;  // the first of them
  std::uint64_t obstacle;       // WitnessObstacle of the first turn left out; if there is none, of the latest turn
};

// Policy `prefix`: a PrefixGoal, then `choices` thread ids, then (aligned to 8) `sleepers` Sleepers.
struct PrefixGoal {
  std::uint32_t choices;
  std::uint32_t sleepers;
};
// A thread whose next operation was explored from the state before the last choice: until an operation that depends on
// it is executed, running the thread shows nothing new.
struct Sleeper {
  std::uint64_t object;
  ThreadId thread;
  std::uint8_t kind;
  std::uint8_t is_write;
  std::uint32_t bytes;
};

// Policies `priorities` and `surw`: a SiteGoal, then `threads` words (priorities, or weights for `surw`), then
// `changes` PriorityChanges, then `sites` addresses of code, sorted.
struct SiteGoal {
  std::uint32_t threads;
  std::uint32_t changes;
  std::uint32_t sites;  // 0: every schedule point is tracked
  std::uint32_t reserved;
};
// At the index-th tracked point (from 1) the running thread gets this priority.
struct PriorityChange {
  std::uint32_t index;
  std::uint32_t priority;
};

// Policy `active`: pairs of sites. Threads stop before them until both ends of a pair are reached. At depth
// kSecondLast, threads wait only before second ends, each time until no other thread can run or a first end on the same
// memory was executed. If all wait, the youngest continues when the seed is even, otherwise the oldest.
inline constexpr std::uint64_t kSecondLast = 1'000'000;
struct ActivePair {
  std::uint64_t first;  // executed first
  std::uint64_t second;
};

// Policy `guided`: a GuidedGoal, then `orders` OrderGoals, `regions` RegionGoals, `goal_bytes` bytes (padded to 8) that
// are the goal of `continuation`, and `switches` ScheduleSteps. The first `choices` choices are those of the policy
// `schedule` with these switches, later ones those of `continuation`; neither is offered a thread that an order or a
// region holds back.
inline constexpr std::uint32_t kMostOrders = 16, kMostRegions = 4;
struct GuidedGoal {
  std::uint32_t orders;   // at most kMostOrders
  std::uint32_t regions;  // at most kMostRegions
  std::uint32_t switches;
  std::uint32_t choices;
  std::uint32_t goal_bytes;
  // The orders and regions from these indices on are an assumption (RunRequest::held). GuideProgress::held_let_go is
  // about them.
  std::uint16_t held_orders_from, held_regions_from;
  char continuation[16];
};
inline constexpr ThreadId kAnyThread = 0xffff;
// The number-th time (from 1) that `thread` is about to execute the operation at `pc`. With kAnyThread, OrderGoal::then
// means every time, and OrderGoal::first the first time by any thread.
struct Arrival {
  std::uint64_t pc;
  std::uint32_t number;
  ThreadId thread;
  std::uint16_t reserved;

  auto operator<=>(const Arrival&) const = default;
};
// `then` waits until `first` was executed.
struct OrderGoal {
  Arrival first, then;
};
// From the time that any one thread executes the operation at `begin` until it has executed the one at `end`, the
// others do not execute the operations at `rivals` (0: none) nor, if `by_object` is not 0, operations on the object of
// the operation at `begin`, except that they release it.
struct RegionGoal {
  std::uint64_t begin, end;
  std::uint64_t by_object;
  std::uint64_t rivals[6];
};
// The result of a guided run, at the start of PolicyState::guide.
struct GuideProgress {
  // The number of times that orders and regions were given up, because every thread was held back or the others only
  // waited.
  std::uint64_t let_go;
  std::uint64_t held_let_go;  // number of times that a part of the assumption was given up
};

}  // namespace reweave
