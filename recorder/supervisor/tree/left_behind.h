// Processes of the command that still run after its first one has ended.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "recorder/supervisor/ring/arena_memory.h"

namespace reweave {

// The time that they may continue to run; nothing: no limit.
using LeftBehindLimit = std::optional<std::chrono::milliseconds>;
inline constexpr LeftBehindLimit kUsualLeftBehindLimit = std::chrono::seconds(5);

// "wait", "kill" or a number of seconds. Throws BadInput.
LeftBehindLimit parse_left_behind(const std::string& text);

// Thread rule: the supervisor's thread.
class LeftBehind {
 public:
  LeftBehind(ArenaMemory& arena, LeftBehindLimit limit) : arena_(arena), limit_(limit) {}

  // Called regularly once the first process has ended. True when the others must be killed. Prints once which processes
  // they are, unless they end within a moment.
  bool is_over();

 private:
  using Clock = std::chrono::steady_clock;

  void say() const;
  std::string list() const;

  ArenaMemory& arena_;
  LeftBehindLimit limit_;
  std::optional<Clock::time_point> since_;
  bool said_ = false;
};

}  // namespace reweave
