// Recording: preemption of a thread that computes or spins and reaches no schedule point. The supervisor's watchdog
// signals it (loop_probe.h); the instant at which it then gives up the baton is named by a PreemptRecord.
#pragma once

#include "recorder/core/preempt/instant.h"

namespace reweave::core {

// What a loop changes from one iteration to the next: words of memory and, as bits of PreemptRecord::varying,
// registers.
struct LoopChanges {
  static constexpr std::uint32_t kMaxWords = NamedWords::kMax;
  bool known;   // nothing else changes; otherwise these are words that the thread has changed lately
  bool recurs;  // known, writes nothing, and all comes back to what it was
  std::uint64_t varying;
  std::uint32_t count;
  std::uint64_t words[kMaxWords];  // addresses
};
// Hash of all private writable memory but the loop's words; 0 if there is too much of it to look at.
std::uint64_t memory_around(const LoopChanges& changes);

// The holder gives up the baton here, and gets its signals. `pause`: the end of a `pause` in its loop, or 0
// (patching.h).
void preempt(KernelContext& context, const LoopChanges& changes, std::uint64_t pause = 0);

// The same when the record has been written or consumed.
void give_way(KernelContext& context);

// A privileged instruction has faulted. True if that was where a loop is counted (code/counted_loops.h): a schedule
// point.
bool count_at_loop(KernelContext& context);

}  // namespace reweave::core
