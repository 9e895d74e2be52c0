// Preemption of a thread that computes or spins and reaches no schedule point.
//
// Recording, the supervisor's watchdog signals the thread (core/loop_probe.h); the instant at which it then gives up
// the baton is named by a PreemptRecord. Replaying, a breakpoint stands at the recorded instruction from the record
// before on: the first time that everything named is equal there is the instant.
#pragma once

#include "recorder/core/context.h"
#include "recorder/core/kernel_types.h"

namespace reweave::core {

// An instant of the target's own code.
struct Instant {
  std::uint64_t ip;
  std::uint64_t registers;  // hash of the general ones, the flags that programs use, and the low halves of vectors
  std::uint64_t stack;      // hash of what lies next above the stack pointer
  bool operator==(const Instant&) const = default;
};
Instant instant_of(const KernelContext& context);
inline constexpr std::uint64_t kStackWindow = 256;

inline constexpr std::uint64_t kTrapFlag = 0x100;

// True if a preemption can be named at `ip`: the target's code, and not an instruction that single steps disturb.
bool nameable(std::uint64_t ip);
// Recording: tells where the shim's code lies, which does not count as the target's.
void note_shim(const char* path, std::uint64_t start, std::uint64_t end);

// Recording: the holder gives up the baton here, and gets its signals. `words`: addresses that tell the instant from
// others with equal registers.
void preempt(KernelContext& context, const std::uint64_t* words, std::uint32_t count);

// Replay, after records were consumed: the breakpoint stands where the next record wants it, or nowhere.
void watch_for_preemption();
// SIGTRAP. True if it was the breakpoint's.
bool on_breakpoint(KernelContext& context);
// Any other fault of the instruction that is being stepped over.
void abandon_step_over(KernelContext& context);

}  // namespace reweave::core
