// Recording: notices that the baton holder reaches no schedule point while other threads could run or a signal waits
// for it. Signals the holder, which the core then examines (recorder/core/preempt/loop_probe.h). If the holder sleeps
// in a call for which it lends the baton, takes the baton instead.
#pragma once

#include <chrono>

#include "recorder/supervisor/ring/arena_memory.h"

namespace reweave {

// The longest sleep of the supervisor.
inline constexpr int kLongestIdleMs = 20;
// Likewise, while no thread has the baton or its holder sleeps in a call. A thread that takes the baton writes a
// record.
inline constexpr int kAsleepIdleMs = 200;

class Watchdog {
 public:
  explicit Watchdog(ArenaMemory& arena) : arena_(arena) {}
  // To be called while the target publishes nothing. Returns the milliseconds after which to call again at the latest.
  int look();

 private:
  using Clock = std::chrono::steady_clock;
  // Changes whenever the holder does anything that the core notices.
  struct Progress {
    std::uint32_t holder;
    std::uint64_t step;
    std::int64_t countdown;
    std::uint64_t published;
    bool operator==(const Progress&) const = default;
  };
  // The holder, and how often the baton had changed hands when it got it.
  struct Turn {
    std::uint32_t holder;
    std::uint64_t number;
    bool operator==(const Turn&) const = default;
  };
  bool sleeps_long(const RuntimeState& state, const Thread& holder) const;
  void look_for_stall(RuntimeState& state, std::uint32_t holder, Thread& thread);
  void relieve(RuntimeState& state, Thread& holder);
  bool look_at_slice(RuntimeState& state, std::uint32_t holder, const Thread& thread);
  bool worth_waking(const Thread& holder) const;
  bool somebody_could_run() const;
  bool signal(const Thread& holder, std::uint64_t value) const;  // false: it was not sent

  ArenaMemory& arena_;
  Progress last_ = {};
  Turn turn_ = {};
  Clock::time_point turn_since_ = Clock::now();
  Clock::time_point since_ = Clock::now();
  std::chrono::milliseconds next_{};
};

}  // namespace reweave
