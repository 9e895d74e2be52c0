// The bytes of the heap shadow (recorder/shim/heap_shadow.h), and the check of an access against them.
#pragma once

#include "recorder/arena.h"

namespace reweave {

// Values of a shadow byte: 0: all 16 bytes may be used, or they belong to no block; kFreed; kPartial + n: the first n
// bytes (0 to 15) may be used.
inline constexpr std::uint8_t kFreed = 1;
inline constexpr std::uint8_t kPartial = 2;

struct HeapError {
  const char* what;  // null: none
  std::uint64_t at;
};

// The first error of an access of `bytes` at `address`.
inline HeapError find_heap_error(std::uint64_t address, std::uint64_t bytes) {
  const auto* shadow = reinterpret_cast<const std::uint8_t*>(kShadowBase);
  for (std::uint64_t at = address; at < address + bytes; at++) {
    const std::uint8_t value = shadow[at >> 4];
    if (value == kFreed) return {"use after free", at};
    if (value >= kPartial && at % 16 >= std::uint64_t{value} - kPartial) return {"heap out of bounds", at};
  }
  return {nullptr, 0};
}

}  // namespace reweave
