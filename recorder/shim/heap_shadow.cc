#include "recorder/shim/heap_shadow.h"

namespace reweave::shim {

void check_poisoned(std::uint64_t address, std::uint64_t bytes, std::uint64_t pc) {
  const HeapError error = find_heap_error(address, bytes);
  if (error.what != nullptr) api().memory_error(error.what, error.at, pc);
}

void check_object(std::uint64_t address, std::uint64_t pc) { check_heap(address, 1, pc); }

}  // namespace reweave::shim
