// One bit for each thread that may be able to run, so that choosing among thousands of waiting threads need not look at
// each.
//
// A clear bit means that the thread waits or is in the kernel. Code that makes a thread able to run (its state is
// ready, or its wait has expired) sets the bit afterwards. Only code that chooses a thread clears it, and then checks
// the thread again. So a thread that can run has its bit set, except for the instant before it is set. In modelled runs
// no bit is cleared; replays take their choices from the recording.
#pragma once

#include <atomic>

#include "recorder/runtime_state.h"

namespace reweave {

struct AwakeThreads {
  std::atomic<std::uint64_t> words[kMaxThreads / 64];

  void set(ThreadId id) {
    const std::uint64_t bit = std::uint64_t{1} << id % 64;
    if ((words[id / 64].load() & bit) == 0) words[id / 64].fetch_or(bit);
  }
  void clear(ThreadId id) { words[id / 64].fetch_and(~(std::uint64_t{1} << id % 64)); }
  // Calls use(id) for each of the first `count` IDs whose bit is set, until it returns true. Returns whether it did.
  template <typename Use>
  bool any(std::uint32_t count, Use use) const {
    for (std::uint32_t word = 0; word * 64 < count; word++)
      for (std::uint64_t bits = words[word].load(); bits != 0; bits &= bits - 1)
        if (use(static_cast<ThreadId>(word * 64 + static_cast<std::uint32_t>(__builtin_ctzll(bits))))) return true;
    return false;
  }
};

// At the end of the runtime state's pages.
inline constexpr std::uint64_t kAwakeOffset = kHeaderBytes + kStateBytes - sizeof(AwakeThreads);
static_assert(sizeof(RuntimeState) + sizeof(AwakeThreads) <= kStateBytes);
static_assert(kMaxThreads % 64 == 0);

// `arena`: the address at which the arena is mapped.
inline AwakeThreads& awake_threads(std::uint64_t arena) {
  return *reinterpret_cast<AwakeThreads*>(arena + kAwakeOffset);
}

}  // namespace reweave
