// Which heap memory was freed: one byte for each 16 of the heap, so that a use after free is found at the access.
//
// Freed blocks stay poisoned in quarantine for a while instead of being reused at once. Only with
// RunConfig::detect_memory_errors; otherwise nothing is mapped.
#pragma once

#include "recorder/shim/runtime.h"

namespace reweave::shim {

// Values of a shadow byte.
inline constexpr std::uint8_t kFreed = 1;

[[noreturn, gnu::cold]] void report_freed(std::uint64_t address, std::uint64_t pc);

inline void check_heap(std::uint64_t address, std::uint64_t bytes, std::uint64_t pc) {
  const auto* shadow = reinterpret_cast<const std::uint8_t*>(kShadowBase);
  const std::uint64_t last = (address + bytes - 1) >> 4;
  for (std::uint64_t i = address >> 4; i <= last; i++)
    if (__builtin_expect(shadow[i] == kFreed, 0)) report_freed(i << 4 > address ? i << 4 : address, pc);
}

}  // namespace reweave::shim
