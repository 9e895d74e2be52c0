#include "recorder/shim/heap_shadow.h"

namespace reweave::shim {

void check_poisoned(std::uint64_t address, std::uint64_t bytes, std::uint64_t pc) {
  const auto* shadow = reinterpret_cast<const std::uint8_t*>(kShadowBase);
  for (std::uint64_t at = address; at < address + bytes; at++) {
    const std::uint8_t value = shadow[at >> 4];
    if (value == kFreed) api().memory_error("use after free", at, pc);
    if (value >= kPartial && at % 16 >= std::uint64_t{value} - kPartial)
      api().memory_error("heap out of bounds", at, pc);
  }
}

void check_object(std::uint64_t address, std::uint64_t pc) { check_heap(address, 1, pc); }

}  // namespace reweave::shim
