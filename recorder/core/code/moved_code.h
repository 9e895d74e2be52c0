// Instructions of the target that are executed elsewhere because a jump to a stub replaced them.
#pragma once

#include "recorder/core/code/stubs.h"

namespace reweave::core {

struct Region;

// An instruction's original address, and the address at which it is executed.
struct Moved {
  std::uint64_t from, to;
};

// The largest size of the moved instructions that a jump covers: two branches on rcx and a call.
inline constexpr std::uint64_t kMostMovedBytes = 64;

// Writes a copy of the instruction at `from`, which decode() accepts. A short branch becomes a near one, distances are
// adjusted, and a call pushes the original return address.
Moved move_instruction(Assembler& code, std::uint64_t from);

// True if the code from `start`, which is never executed, to `end` is only padding between functions.
bool is_padding(std::uint64_t start, std::uint64_t end);

// The whole instructions covered by a jump.
struct JumpWindow {
  std::uint32_t count = 0;
  std::uint64_t bytes = 0;
  std::uint64_t starts[kJumpBytes];

  // False if one of them cannot be moved. `region` is code.
  bool find(std::uint64_t address, const Region& region);
  // Whether a nearby jump leads into the middle of them. / Whether a table does; that takes milliseconds.
  bool is_entered(const Region& region) const;
  bool is_in_table(const Region& region) const;
  // Whether everything they refer to is within reach of the `bytes` of code at `stub`.
  bool reaches(std::uint64_t stub, std::uint64_t bytes) const;
};

}  // namespace reweave::core
