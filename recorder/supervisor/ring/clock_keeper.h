// Keeps the time for programs that read clocks hundreds of times a millisecond: asking the kernel each time would take
// longer than everything else in recording such a program. The target cannot compute the time, because its time stamp
// counter faults; the supervisor can, in a few nanoseconds, on a processor of its own. While reads come that fast, it
// does so instead of sleeping.
#pragma once

#include <chrono>
#include <cstdint>

#include "recorder/supervisor/ring/arena_memory.h"

namespace reweave {

class ClockKeeper {
 public:
  explicit ClockKeeper(ArenaMemory& arena) : arena_(arena) {}

  // To be called often. True if the target reads clocks so fast that the time should be kept.
  bool look();
  // Keeps the time for a millisecond, or until the target has published some tens of kilobytes.
  void keep();

 private:
  using Clock = std::chrono::steady_clock;

  ArenaMemory& arena_;
  std::uint64_t reads_ = 0;  // when last read
  Clock::time_point since_ = Clock::now();
  bool fast_ = false;
};

}  // namespace reweave
