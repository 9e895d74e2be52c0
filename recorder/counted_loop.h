// The runtime's table of loops in which an instruction is a schedule point (recorder/core/code/counted_loops.h). A
// debugger's side reads it, and switches loops between the trap and the jump (replayer/gdb/counting.py,
// replayer/live/traced_loops.cc).
#pragma once

#include <cstddef>
#include <cstdint>

namespace reweave {

inline constexpr std::uint32_t kMaxLoops = 256;
inline constexpr std::uint64_t kLoopStubBytes = 192;
inline constexpr std::uint32_t kMostCovered = 5;  // instructions that a jump covers

struct CountedLoop {
  std::uint64_t start, covers;  // of the jump; start is 0: it was removed
  std::uint64_t stub;
  std::uint64_t spent;    // the stub's trap for an expired countdown
  std::uint64_t behind;   // the stub's copy of the instruction alone, executed after a trap at `start`
  std::uint8_t has_trap;  // instead of the jump; or the debugger counts there, in the original code
  std::uint8_t keeps_flags;
  std::uint32_t count;  // of `moved`
  std::uint8_t original[24];
  struct {
    std::uint64_t from, to;
  } moved[kMostCovered];
};
static_assert(offsetof(CountedLoop, original) == 48 && sizeof(CountedLoop) == 152);

}  // namespace reweave
