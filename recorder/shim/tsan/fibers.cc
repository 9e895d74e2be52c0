// Fibers declared by the program (sanitizer/tsan_interface.h). The scheduler schedules the thread that runs them, and a
// trace's events are that thread's. But a fiber may continue in another thread, with only the switch ordering the two,
// so each switch records its edges.
#include "recorder/shim/tsan/edges.h"

using namespace reweave;        // NOLINT: the ABI is global
using namespace reweave::shim;  // NOLINT

namespace {

// Only its address matters, which identifies the edges. A thread's initial context is a fiber too.
struct Fiber {
  Fiber* next_free;
};
constexpr std::uint32_t kFibers = 1 << 16;
Fiber fibers[kFibers];
std::uint32_t fibers_used;
Fiber* free_fibers;
Fiber own_fibers[kMaxThreads];
Fiber* current_fibers[kMaxThreads];

Fiber* current() {
  Fiber*& fiber = current_fibers[self().id];
  if (fiber == nullptr) fiber = &own_fibers[self().id];
  return fiber;
}

// Once the array is full, all further fibers share its last entry, which orders too much, but never too little.
Fiber* make() {
  if (free_fibers != nullptr) {
    Fiber* fiber = free_fibers;
    free_fibers = fiber->next_free;
    return fiber;
  }
  if (fibers_used + 1 < kFibers) fibers_used++;
  return &fibers[fibers_used];
}

bool is_shared(const Fiber* fiber) { return fiber == &fibers[kFibers - 1]; }
bool is_thread(const Fiber* fiber) { return fiber >= own_fibers && fiber < own_fibers + kMaxThreads; }

constexpr unsigned kNoSync = 1;  // __tsan_switch_to_fiber_no_sync

}  // namespace

REWEAVE_EXPORT void* __tsan_get_current_fiber() { return current(); }

REWEAVE_EXPORT void* __tsan_create_fiber(unsigned) {
  Fiber* fiber = make();
  release_edge(fiber, REWEAVE_CALLER);
  return fiber;
}

REWEAVE_EXPORT void __tsan_destroy_fiber(void* given) {
  auto* fiber = static_cast<Fiber*>(given);
  if (is_shared(fiber) || is_thread(fiber)) return;
  fiber->next_free = free_fibers;
  free_fibers = fiber;
}

// Operations of the old fiber precede its later operations, in any thread. Operations before the switch also precede
// those of the new fiber, unless the program says otherwise.
REWEAVE_EXPORT void __tsan_switch_to_fiber(void* given, unsigned flags) {
  auto* fiber = static_cast<Fiber*>(given);
  release_edge(current(), REWEAVE_CALLER);
  if ((flags & kNoSync) == 0) release_edge(fiber, REWEAVE_CALLER);
  acquire_edge(fiber, REWEAVE_CALLER);
  current_fibers[self().id] = fiber;
}

REWEAVE_EXPORT void __tsan_set_fiber_name(void*, const char*) {}
