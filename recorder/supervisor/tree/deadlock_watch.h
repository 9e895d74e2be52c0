// Recording: ends a run with waiting threads that can never continue (stuck_threads.h).
//
// The core itself notices at once when threads wait for each other's locks and no other thread is left
// (recorder/core/schedule/deadlock.h).
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "recorder/supervisor/ring/arena_memory.h"
#include "recorder/supervisor/tree/stuck_threads.h"

namespace reweave {

// Thread rule: the supervisor's thread.
class DeadlockWatch {
 public:
  using Clock = std::chrono::steady_clock;

  DeadlockWatch(ArenaMemory& arena, const TreeView& view) : arena_(arena), view_(view) {}
  // To be called often; looks once a second at most. Ends the run (RunStatus::fatal) if it has found the same threads
  // stuck for a second, or, if others can continue, for ten seconds.
  void look(Clock::time_point now = Clock::now());

 private:
  std::optional<StuckThreads> deadlock() const;
  bool is_old_enough(const StuckThreads& stuck, Clock::time_point now);
  std::string signature_of(const StuckThreads& stuck) const;
  void end_run(const std::string& text);

  ArenaMemory& arena_;
  const TreeView& view_;
  Clock::time_point next_ = {};
  std::string found_;  // signature of the stuck threads: which they are, and how far each has come
  Clock::time_point found_since_ = {};
};

}  // namespace reweave
