// Recording: notices that the baton's holder reaches no schedule point while others could run or a signal waits for
// it, and signals it. What it does is then looked at in the target (recorder/core/loop_probe.h).
#pragma once

#include <chrono>

#include "recorder/supervisor/arena_memory.h"

namespace reweave {

class Watchdog {
 public:
  explicit Watchdog(ArenaMemory& arena) : arena_(arena) {}
  // Call while the target publishes nothing.
  void look();

 private:
  using Clock = std::chrono::steady_clock;
  // What changes whenever the holder does anything that the core sees.
  struct Progress {
    std::uint32_t holder;
    std::uint64_t step;
    std::int64_t countdown;
    std::uint64_t published;
    bool operator==(const Progress&) const = default;
  };
  bool worth_waking(const Thread& holder) const;
  void signal(const Thread& holder) const;

  ArenaMemory& arena_;
  Progress last_ = {};
  Clock::time_point since_ = Clock::now();
  std::chrono::milliseconds next_{};
};

}  // namespace reweave
