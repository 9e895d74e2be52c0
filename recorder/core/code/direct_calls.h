// Calls of the shim without the way through memory: the program's entries for its functions in the procedure linkage
// table, which jump to what a slot says, jump there at once. An indirect jump costs as much as the rest of a lock that
// is free.
//
// All runs of a program have the same, debugged ones too. A jump reaches 2 GiB, so the shim is mapped behind the
// program, and the heap begins behind both. Libraries, which lie elsewhere, go on calling through their slots.
#pragma once

#include "recorder/core_api.h"

namespace reweave::core {

// Between a program that has a loader and its heap.
inline constexpr std::uint64_t kShimRoom = 1 << 20;

// Recording: where a new mapping of `bytes` of the file `fd` goes if that is the shim's, and the program's first; 0 if
// it is not, or does not fit.
std::uint64_t place_of_shim(long fd, std::uint64_t bytes);

// `shim` is loaded, and no object before it defines what it does, but perhaps the program. Before the program's first
// instruction.
void call_directly(const LoadedObject& shim);

}  // namespace reweave::core
