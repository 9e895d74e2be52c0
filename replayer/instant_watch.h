// Replay: notices that a thread looks for the instant at which it was preempted long after it must have passed it, so
// that a replay which differs from its recording ends instead of computing forever.
#pragma once

#include <cstdint>
#include <string>

#include "recorder/supervisor/arena_memory.h"

namespace reweave {

// Used by the supervisor's thread only.
class InstantWatch {
 public:
  explicit InstantWatch(ArenaMemory& arena) : arena_(arena) {}

  // Call while the target neither consumes nor publishes anything. Returns why the instant can no longer come, as the
  // text of a Divergence; empty while it may come.
  std::string look();

 private:
  // What changes whenever the replay gets on.
  struct Search {
    std::uint32_t thread;
    std::uint64_t event;
    std::uint64_t passes;
    bool operator==(const Search&) const = default;
  };

  ArenaMemory& arena_;
  Search last_ = {};
  std::int64_t since_ = 0;  // processor time of the thread's process, in milliseconds, when last_ was seen first
};

}  // namespace reweave
