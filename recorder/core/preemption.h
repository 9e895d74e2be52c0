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
  std::uint64_t registers;  // hash of the general ones, the flags that programs use, and the vectors
  std::uint64_t stack;      // hash of what lies next above the stack pointer
  std::uint64_t vectors;    // hash of the low halves of the vector registers
  bool operator==(const Instant&) const = default;
};
Instant instant_of(const KernelContext& context);

// True if a preemption can be named at `ip`: the target's code, and not an instruction that single steps disturb.
bool nameable(std::uint64_t ip);
// Recording: tells where the shim's code lies, which does not count as the target's.
void note_shim(const char* path, std::uint64_t start, std::uint64_t end);

// What a loop changes from one iteration to the next: words of memory and, as bits of PreemptRecord::varying,
// registers.
struct LoopChanges {
  static constexpr std::uint32_t kMaxWords = 32;
  bool known;  // nothing else changes; otherwise these are words that the thread has changed lately
  std::uint64_t varying;
  std::uint32_t count;
  std::uint64_t words[kMaxWords];  // addresses
};
// Recording: hash of all private writable memory but the loop's words; 0 if there is too much of it to look at.
std::uint64_t memory_around(const LoopChanges& changes);
// Register `i` of PreemptRecord::general.
std::uint64_t& general_register(KernelRegisters& registers, std::uint32_t i);
inline constexpr std::uint32_t kGeneralRegisters = 16;

// Recording: the holder gives up the baton here, and gets its signals.
void preempt(KernelContext& context, const LoopChanges& changes);

// Replay, after records were consumed: the breakpoint stands where the next record wants it, or nowhere.
void watch_for_preemption();
// SIGTRAP. True if it was the breakpoint's.
bool on_breakpoint(KernelContext& context);
// Any other fault of the instruction that is being stepped over, or is executed elsewhere for the breakpoint's sake.
void abandon_step_over(KernelContext& context);

}  // namespace reweave::core
