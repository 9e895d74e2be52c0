// The supervisor's side of the guard, which kills the target if the supervisor is killed (core/guard.h).
#pragma once

#include <string>

#include "recorder/supervisor/ring/arena_memory.h"

namespace reweave {

// Kills every process that has the arena at the target's descriptor number. True if there was any.
bool kill_targets_of(const ArenaMemory& arena);

// To be started before becoming a subreaper. The destructor dismisses the guard.
class Guard {
 public:
  // `recording`: the recording that the guard then completes from the ring's file (unsaved.h), or empty. Throws
  // SystemError.
  explicit Guard(ArenaMemory& arena, const std::string& recording = {});
  ~Guard();
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  int lifeline_ = -1;
};

}  // namespace reweave
