// How long an instruction is, and how it is moved: enough of a decoder to take some out of the target's way for a
// while.
#pragma once

#include <cstdint>

namespace reweave::core {

// An instruction of 64-bit code that does the same elsewhere, its distances to other code and data once corrected
// (moved_code.h).
struct Instruction {
  std::uint8_t bytes;        // 0: not known to be one
  std::uint8_t distance_at;  // where its 32-bit distance from its end to code or data is; 0: it has none
  bool short_branch;         // has one of 8 bits, at its end
  bool goes_on;              // the next one may be executed after it
  bool calls;                // leaves its end on the stack
};

// Reads 15 bytes at the most. Nothing that the kernel or the core has a hand in. Source: Intel's Software Developer's
// Manual, volume 2, appendix A.
Instruction decode(const std::uint8_t* code);

// Where what selects the operation is in an indirect call or jump that decode() knows.
std::uint8_t call_operands_at(const std::uint8_t* code);

// True if all arithmetic flags are what the instruction makes them, none of them undefined: they need not be kept for
// it. Of some that decode() knows.
bool replaces_flags(const std::uint8_t* code);

inline constexpr std::uint64_t kLongestInstruction = 15;

// How long the instruction at `code` is, of those too that are not moved; 0 if programs have none like it: invalid or
// privileged ones. Reads 15 bytes at the most.
std::uint32_t instruction_bytes(const std::uint8_t* code);

// True of a string instruction that repeats: a signal or a single step may come between two repetitions of it, a trap
// at it only before the first.
bool repeats(const std::uint8_t* code);

}  // namespace reweave::core
