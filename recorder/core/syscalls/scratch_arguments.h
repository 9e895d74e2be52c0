// A call made off the baton: the kernel must not touch memory that other threads may use, so its arguments point to
// scratch meanwhile.
#pragma once

#include "recorder/core/syscalls/call.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

// A buffer that does not fit in the scratch stays where it is, and so does one that is not all there, for what is
// transferred before the kernel finds that out, and what is not, is its business.
class ScratchArguments {
 public:
  // Changes `call.args`. With the baton, of the calling thread's call.
  explicit ScratchArguments(Call& call);

  // Copies what the call wrote to where the target wants it. The thread has the baton again.
  void copy_back(const Output* list, std::uint32_t count) const;

 private:
  struct Move {
    std::uint64_t original, scratch, bytes;
  };
  static void copy_part(const Move& move, const Output& output);
  // Scratch for `bytes` at `original`, filled from there if the kernel reads it.
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
