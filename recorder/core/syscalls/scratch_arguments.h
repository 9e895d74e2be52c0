// Arguments of a call made without the baton. The kernel must not touch memory that other threads may use meanwhile, so
// the arguments are redirected to scratch.
#pragma once

#include "recorder/core/syscalls/call.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

// A buffer that does not fit into scratch stays where it is. So does one that is partly unmapped, because only the
// kernel knows how much is transferred before it notices that.
class ScratchArguments {
 public:
  // Changes `call.args`. The calling thread has the baton.
  explicit ScratchArguments(Call& call);

  // Copies the call's outputs to where the target expects them. The thread has the baton again.
  void copy_back(const Output* list, std::uint32_t count) const;

 private:
  struct Move {
    std::uint64_t original, scratch, bytes;
  };
  static void copy_part(const Move& move, const Output& output);
  // Scratch for the `bytes` at `original`, filled from there if the kernel reads it.
  std::uint64_t place(std::uint64_t original, std::uint64_t bytes, bool read_by_kernel);
  std::uint64_t place_vector(std::uint64_t address, std::uint64_t count);
  void substitute(const Out& out);

  static constexpr std::uint32_t kMaxMoves = 64;
  Call& call_;
  std::uint64_t next_;
  std::uint64_t end_;
  std::uint32_t moves_ = 0;
  Move move_[kMaxMoves];
};

}  // namespace reweave::core
