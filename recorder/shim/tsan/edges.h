// Happens-before edges that the program declares: what precedes a release is visible after an acquire of the same
// address. They are recorded as atomics of size 0, because the memory there is not accessed.
#pragma once

#include "recorder/shim/runtime.h"

namespace reweave::shim {

[[gnu::always_inline]] inline void acquire_edge(const volatile void* place, std::uint64_t pc) {
  point(OpKind::kAtomic, place, pc, 8, 0);
  note(EventKind::kAtomicLoad, place, pc, __ATOMIC_ACQUIRE, 0);
}

[[gnu::always_inline]] inline void release_edge(const volatile void* place, std::uint64_t pc) {
  point(OpKind::kAtomic, place, pc, 8);
  note(EventKind::kAtomicRmw, place, pc, __ATOMIC_RELEASE, 0);
}

}  // namespace reweave::shim
