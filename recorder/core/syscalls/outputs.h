// Memory of the program that a recorded call wrote, according to its row of the table. Thread rule: the baton holder
// only.
#pragma once

#include "recorder/core/memory/address_space.h"
#include "recorder/core/syscalls/call.h"
#include "recorder/core/syscalls/scratch.h"

namespace reweave::core {

struct IoVector {  // struct iovec
  std::uint64_t base;
  std::uint64_t bytes;
};

inline constexpr std::uint64_t kMostVectors = 1024;  // UIO_MAXIOV

// True if all of it is readable memory.
inline bool is_there(std::uint64_t address, std::uint64_t bytes) { return bytes_there(address, bytes) == bytes; }

// State that the kernel reads before it writes: the sizes of in-out address buffers, and the vector, because the data
// may overwrite it.
struct Before {
  std::uint32_t socket_room[4];
  const IoVector* vector;
};

// Called before the call is made and before its arguments are redirected to scratch.
Before look_before(const Call& call);

// Stores the memory that the call wrote in `outputs`, which has room for kMaxOutputs. Returns the number of entries.
std::uint32_t gather_outputs(const Call& call, const Before& before, long result, Output* outputs);
// Appends the parts of `vector` that hold the first `result` bytes to the `n` entries of `to`. Returns the new number
// of entries.
std::uint32_t vector_outputs(const IoVector* vector, long count, long result, Output* to, std::uint32_t n);

// The end of the thread's scratch, where a copy of a vector is kept.
inline std::uint64_t kept_vector(const Call& call) {
  return scratch_of(call.me) + kScratchBytes - kMostVectors * sizeof(IoVector);
}

}  // namespace reweave::core
