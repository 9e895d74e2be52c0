// Calls of the shim without an indirect jump: the program's entries for the shim's functions in the procedure linkage
// table jump there directly instead of through a slot. An indirect jump costs as much as the rest of an operation on a
// free lock.
//
// All runs of a program do this, including debugged ones. A jump reaches 2 GiB, so the shim is mapped after the
// program, and the heap begins after both. Libraries are elsewhere and keep calling through their slots.
#pragma once

#include "recorder/core_api.h"

namespace reweave::core {

// Bytes left free for the shim between a dynamically linked program and its heap.
inline constexpr std::uint64_t kShimRoom = 1 << 20;

// Recording: the address for a new mapping of `bytes` of the file `fd` if that is the shim's first in this program; 0
// if it is not, or does not fit.
std::uint64_t place_of_shim(long fd, std::uint64_t bytes);

// `shim` is loaded, and no object before it, except possibly the program, defines its functions. Called before the
// program's first instruction.
void call_directly(const LoadedObject& shim);

}  // namespace reweave::core
