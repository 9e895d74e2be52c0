// What patching knows of machine code: a few instructions by their bytes, and what may jump to a place. No decoder:
// code that is not recognised is left alone.
#pragma once

#include "recorder/core/memory/address_space.h"

namespace reweave::core {

// The region at `address` if it is code that cannot be written to, all of it there; else null.
const Region* code_region(std::uint64_t address);

// True if `mov $number, %eax` is at `address`. After a REX prefix the same bytes move something else.
bool is_move(std::uint64_t address, long number);

// True if `pause` is at `address`.
bool is_pause(std::uint64_t address);
// True if one is within a small loop's reach.
bool is_pause_near(std::uint64_t address);

// Bytes of a `cmp $constant, %eax` or %rax at `address`, or 0.
std::uint64_t compare_bytes(std::uint64_t address);

// Bytes of an `rdtsc` or `rdtscp` at `address`, or 0.
std::uint64_t clock_bytes(std::uint64_t address);
// The same of one in whose place there is what faults (trapped.h), where that can be nothing else.
std::uint64_t trapped_clock_bytes(std::uint64_t address);

// True if what may be a jump leads to `target` from the code around it.
bool is_jumped_to(std::uint64_t target, const Region& region);

}  // namespace reweave::core
