// The supervisor's end of the guard, which ends the target should the supervisor be killed (core/guard.h).
#pragma once

#include <string>

#include "recorder/supervisor/arena_memory.h"

namespace reweave {

// Kills every process that has the arena where a target has it. True if there was any.
bool kill_targets_of(const ArenaMemory& arena);

// Start it before becoming a subreaper. The destructor dismisses it.
class Guard {
 public:
  // `recording`: what it completes from the ring's file then (unsaved.h), or empty. Throws SystemError.
  explicit Guard(ArenaMemory& arena, const std::string& recording = {});
  ~Guard();
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  int lifeline_ = -1;
};

}  // namespace reweave
