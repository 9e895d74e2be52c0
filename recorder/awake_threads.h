// Which threads may be able to run: a bit for each, so that who chooses among thousands that wait need not look at
// each.
//
// A bit that is clear says that the thread waits, or is in the kernel. Whoever makes a thread able to run (its state
// ready, or its wait expired) sets the bit after that; only who chooses clears it, and looks again afterwards. So a
// thread that can run has its bit, but for the instant in which somebody is about to set it. In modelled
// runs nobody clears any, and replays have their choices from the recording.
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
  // Calls use(id) for each of the first `count` ids that has its bit, until it returns true; whether it did.
  template <typename Use>
  bool any(std::uint32_t count, Use use) const {
    for (std::uint32_t word = 0; word * 64 < count; word++)
      for (std::uint64_t bits = words[word].load(); bits != 0; bits &= bits - 1)
        if (use(static_cast<ThreadId>(word * 64 + static_cast<std::uint32_t>(__builtin_ctzll(bits))))) return true;
    return false;
  }
};

// Behind the state of the run, where its pages end.
inline constexpr std::uint64_t kAwakeOffset = kHeaderBytes + kStateBytes - sizeof(AwakeThreads);
static_assert(sizeof(RuntimeState) + sizeof(AwakeThreads) <= kStateBytes);
static_assert(kMaxThreads % 64 == 0);

// `arena`: where it is mapped.
inline AwakeThreads& awake_threads(std::uint64_t arena) {
  return *reinterpret_cast<AwakeThreads*>(arena + kAwakeOffset);
}

}  // namespace reweave
