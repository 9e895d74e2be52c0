// Notices that a replayed thread still searches for its recorded preemption, although it must have passed it long ago.
// A replay that differs from its recording then ends instead of computing forever.
#pragma once

#include <cstdint>
#include <string>

#include "recorder/supervisor/ring/arena_memory.h"

namespace reweave {

// Used by the supervisor's thread only.
class InstantWatch {
 public:
  explicit InstantWatch(ArenaMemory& arena) : arena_(arena) {}

  // Call while the target neither consumes nor publishes records. Returns the text of a Divergence once the preemption
  // can no longer come, empty before.
  std::string look();

 private:
  // Changes whenever the replay makes progress.
  struct Search {
    std::uint32_t thread;
    std::uint64_t event;
    std::uint64_t passes;
    bool operator==(const Search&) const = default;
  };

  ArenaMemory& arena_;
  Search last_ = {};
  std::int64_t since_ = 0;  // processor time of the thread's process in milliseconds when last_ was first seen
};

}  // namespace reweave
