// Recording: preemption of a thread that computes or spins without reaching a schedule point. The supervisor's watchdog
// signals it (loop_probe.h); a PreemptRecord names the instant at which it then gives up the baton.
#pragma once

#include "recorder/core/preempt/instant.h"

namespace reweave::core {

// The changes that a loop makes from one iteration to the next: words of memory, and registers as bits of
// PreemptRecord::varying.
struct LoopChanges {
  static constexpr std::uint32_t kMaxWords = NamedWords::kMax;
  bool known;   // nothing else changes; otherwise `words` are those that the thread changed lately
  bool recurs;  // known, writes nothing, and returns to the same state
  std::uint64_t varying;
  std::uint32_t count;
  std::uint64_t words[kMaxWords];  // addresses
};
// Hash of the writable memory without the loop's words; 0 if there is too much of it to hash.
std::uint64_t memory_around(const LoopChanges& changes);

// The holder gives up the baton here and receives its signals. `pause`: the end of a `pause` instruction in its loop,
// or 0 (patching.h).
void preempt(KernelContext& context, const LoopChanges& changes, std::uint64_t pause = 0);

// The same, after the record was written or consumed.
void give_way(KernelContext& context);

// A privileged instruction has faulted. True if it marks the place at which a loop is counted (code/counted_loops.h), a
// schedule point.
bool count_at_loop(KernelContext& context);

}  // namespace reweave::core
