// Instructions of the target that are executed elsewhere, since a jump to code of ours took their place.
#pragma once

#include "recorder/core/code/stubs.h"

namespace reweave::core {

struct Region;

// Of one instruction: where it was, and where it is executed.
struct Moved {
  std::uint64_t from, to;
};

// The most bytes that what a jump covers takes elsewhere: two short loops and a short call.
inline constexpr std::uint64_t kMostMovedBytes = 64;

// Writes the instruction at `from`, which decode() knows. A short branch becomes a near one, distances are from
// elsewhere, and a call leaves on the stack what it would have.
Moved move_instruction(Assembler& code, std::uint64_t from);

// True if nothing but what a compiler aligns a function with is from `start` on, which is never executed, to `end`.
bool is_padding(std::uint64_t start, std::uint64_t end);

// The whole instructions that a jump at an address covers.
struct JumpWindow {
  std::uint32_t count = 0;
  std::uint64_t bytes = 0;
  std::uint64_t starts[kJumpBytes];

  // False if there is one that cannot be moved. `region` is code.
  bool find(std::uint64_t address, const Region& region);
  // Whether a jump nearby leads into their midst. / Whether a table does, which takes milliseconds.
  bool is_entered(const Region& region) const;
  bool is_in_table(const Region& region) const;
  // Whether what they refer to is within reach of the `bytes` of code at `stub`.
  bool reaches(std::uint64_t stub, std::uint64_t bytes) const;
};

}  // namespace reweave::core
