// The data that goal-directed policies are given, as they lie in the arena's goal area.
#pragma once

#include <cstdint>

#include "formats/event.h"

namespace reweave {

// One switch of a schedule: when `thread` has executed `tick` schedule points, `to` runs. The list is sorted by
// (thread, tick, free); switches with the same key come about in the list's order.
struct ScheduleStep {
  std::uint32_t tick;
  ThreadId thread;
  ThreadId to;
  std::uint16_t free;  // 1: `thread` cannot go on there (it blocks, yields or exits); 0: it is preempted
  std::uint16_t reserved;

  bool operator==(const ScheduleStep&) const = default;
};

// One operation of a witness: `thread` executes the operation whose place in the program is `pc`.
struct WitnessGoal {
  std::uint64_t pc;
  ThreadId thread;
  std::uint16_t reserved[3];
};

}  // namespace reweave
