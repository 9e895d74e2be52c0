// The length of instructions, and how they can be moved: as much of a decoder as is needed to execute some of the
// target's instructions elsewhere.
#pragma once

#include <cstdint>

namespace reweave::core {

// An instruction of 64-bit code that does the same elsewhere once its distances to other code and data are adjusted
// (moved_code.h).
struct Instruction {
  std::uint8_t bytes;        // 0: not a known instruction
  std::uint8_t distance_at;  // offset of its 32-bit distance, from its end to code or data; 0: it has none
  bool short_branch;         // has an 8-bit distance, at its end
  bool falls_through;        // the next one may be executed after it
  bool calls;                // pushes the address of its end
};

// Reads at most 15 bytes. Rejects instructions in which the kernel or the core is involved. Source: Intel's Software
// Developer's Manual, volume 2, appendix A.
Instruction decode(const std::uint8_t* code);

// Offset of the byte that selects the operation in an indirect call or jump that decode() accepts.
std::uint8_t call_operands_at(const std::uint8_t* code);

// True if the instruction sets all arithmetic flags and leaves none undefined, so that they need not be preserved
// before it. Known for some of the instructions that decode() accepts.
bool replaces_flags(const std::uint8_t* code);

inline constexpr std::uint64_t kLongestInstruction = 15;

// Length of the instruction at `code`, even if it cannot be moved; 0 if programs do not use it (invalid or privileged).
// Reads at most 15 bytes.
std::uint32_t instruction_bytes(const std::uint8_t* code);

// True for a repeated string instruction: a signal or single step may come between two repetitions, a trap only before
// the first.
bool repeats(const std::uint8_t* code);

}  // namespace reweave::core
