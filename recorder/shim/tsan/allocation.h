// Allocates and releases blocks of the heap for the program.
#pragma once

#include <cstddef>
#include <cstdint>

namespace reweave::shim {

// Null if there is no memory. `pc`: the code to which the allocation is attributed.
void* allocate(std::size_t bytes, std::uint64_t pc);
// `alignment`: a power of two.
void* allocate_aligned(std::size_t alignment, std::size_t bytes, std::uint64_t pc);

// Null is allowed. `pc`: the code that releases the block.
void release(void* block, std::uint64_t pc);

}  // namespace reweave::shim
