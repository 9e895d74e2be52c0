// Recognises the machine code that patching needs to know: a few instructions, by their bytes, and possible jumps to a
// place. It is not a decoder: unrecognised code is left alone.
#pragma once

#include "recorder/core/memory/address_space.h"

namespace reweave::core {

// The region at `address` if it is code that is not writable and fully accessible; else null.
const Region* code_region(std::uint64_t address);

// True if `mov $number, %eax` is at `address`. After a REX prefix the same bytes move something else.
bool is_move(std::uint64_t address, long number);

// True if `pause` is at `address`.
bool is_pause(std::uint64_t address);
// True if a `pause` is near enough to `address` to be in the same small loop.
bool is_pause_near(std::uint64_t address);

// Bytes of a `cmp $constant, %eax` or %rax at `address`, or 0.
std::uint64_t compare_bytes(std::uint64_t address);

// Bytes of an `rdtsc` or `rdtscp` at `address`, or 0.
std::uint64_t clock_bytes(std::uint64_t address);
// The same for a read of the clock that was replaced by a faulting instruction (trapped.h). The caller must know that
// no other replaced instruction can be at `address`.
std::uint64_t trapped_clock_bytes(std::uint64_t address);

// True if anything in the code around it that may be a jump leads to `target`.
bool is_jumped_to(std::uint64_t target, const Region& region);

}  // namespace reweave::core
