// What a recorded call wrote to the program's memory, as its row of the table says. With the baton.
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

// All of it is memory that can be read.
inline bool is_there(std::uint64_t address, std::uint64_t bytes) { return bytes_there(address, bytes) == bytes; }

// What the kernel reads before it writes: sizes of in-out address buffers, and the vector, where the data may be put.
struct Before {
  std::uint32_t socket_room[4];
  const IoVector* vector;
};

// Before the call is made, and before its arguments point to scratch.
Before look_before(const Call& call);

// The memory that the call wrote, into `outputs`, of which there is room for kMaxOutputs; how many there are.
std::uint32_t gather_outputs(const Call& call, const Before& before, long result, Output* outputs);
// Of the parts of `vector` those that the first `result` bytes are in, behind the `n` that `to` has.
std::uint32_t vector_outputs(const IoVector* vector, long count, long result, Output* to, std::uint32_t n);

// The end of the thread's scratch, where a vector is kept.
inline std::uint64_t kept_vector(const Call& call) {
  return scratch_of(call.me) + kScratchBytes - kMostVectors * sizeof(IoVector);
}

}  // namespace reweave::core
