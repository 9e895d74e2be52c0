// __tsan_atomic*: the operation itself, as a schedule point. One thread runs at a time, so only sequential consistency
// is observable; the requested order goes into the trace.
#include "recorder/shim/tsan/access.h"

using namespace reweave;        // NOLINT: the ABI is global
using namespace reweave::shim;  // NOLINT

namespace {

using Wide = __int128;

[[gnu::always_inline]] inline void event(EventKind kind, const volatile void* place, std::uint32_t bytes, int order,
                                         std::uint64_t pc) {
  if (config().detect_now != 0) check_heap(address_of(place), bytes, pc);
  note_value(kind, static_cast<std::uint8_t>(log2_of(bytes) | order << 4), place, pc);
}

[[gnu::always_inline]] inline void before(const volatile void* place, std::uint32_t bytes, bool write,
                                          std::uint64_t pc) {
  point(OpKind::kAtomic, place, pc, bytes, write ? 1 : 0);
}

// Loads and stores of every width; 16 bytes take two halves, between which no other thread can run.
template <typename T>
T load(const volatile T* place, int order, std::uint64_t pc) {
  before(place, sizeof(T), false, pc);
  event(EventKind::kAtomicLoad, place, sizeof(T), order, pc);
  return *place;
}

template <typename T>
void store(volatile T* place, T value, int order, std::uint64_t pc) {
  before(place, sizeof(T), true, pc);
  event(EventKind::kAtomicStore, place, sizeof(T), order, pc);
  *place = value;
}

// A read-modify-write; returns the old value. Other processes of the tree cannot intervene either.
template <typename T, typename Change>
T update(volatile T* place, int order, std::uint64_t pc, Change change) {
  before(place, sizeof(T), true, pc);
  event(EventKind::kAtomicRmw, place, sizeof(T), order, pc);
  const T old = *place;
  *place = change(old);
  return old;
}

template <typename T>
bool exchange_if(volatile T* place, T* expected, T desired, int order, int failure_order, std::uint64_t pc) {
  before(place, sizeof(T), true, pc);
  const T old = *place;
  if (old != *expected) {
    event(EventKind::kAtomicLoad, place, sizeof(T), failure_order, pc);
    *expected = old;
    return false;
  }
  event(EventKind::kAtomicRmw, place, sizeof(T), order, pc);
  *place = desired;
  return true;
}

}  // namespace

#define FETCH(bits, type, name, expression)                                                                   \
  REWEAVE_EXPORT type __tsan_atomic##bits##_fetch_##name(volatile type* place, type value, int order) {       \
    return update(place, order, REWEAVE_CALLER, [value](type old) { return static_cast<type>(expression); }); \
  }

#define ATOMIC(bits, type)                                                                                             \
  REWEAVE_EXPORT type __tsan_atomic##bits##_load(const volatile type* place, int order) {                              \
    return load(place, order, REWEAVE_CALLER);                                                                         \
  }                                                                                                                    \
  REWEAVE_EXPORT void __tsan_atomic##bits##_store(volatile type* place, type value, int order) {                       \
    store(place, value, order, REWEAVE_CALLER);                                                                        \
  }                                                                                                                    \
  REWEAVE_EXPORT type __tsan_atomic##bits##_exchange(volatile type* place, type value, int order) {                    \
    return update(place, order, REWEAVE_CALLER, [value](type) { return value; });                                      \
  }                                                                                                                    \
  FETCH(bits, type, add, old + value)                                                                                  \
  FETCH(bits, type, sub, old - value)                                                                                  \
  FETCH(bits, type, and, old& value)                                                                                   \
  FETCH(bits, type, or, old | value)                                                                                   \
  FETCH(bits, type, xor, old ^ value)                                                                                  \
  FETCH(bits, type, nand, ~(old & value))                                                                              \
  REWEAVE_EXPORT int __tsan_atomic##bits##_compare_exchange_strong(volatile type* place, type* expected, type desired, \
                                                                   int order, int failure) {                           \
    return exchange_if(place, expected, desired, order, failure, REWEAVE_CALLER) ? 1 : 0;                              \
  }                                                                                                                    \
  REWEAVE_EXPORT int __tsan_atomic##bits##_compare_exchange_weak(volatile type* place, type* expected, type desired,   \
                                                                 int order, int failure) {                             \
    return exchange_if(place, expected, desired, order, failure, REWEAVE_CALLER) ? 1 : 0;                              \
  }                                                                                                                    \
  REWEAVE_EXPORT type __tsan_atomic##bits##_compare_exchange_val(volatile type* place, type expected, type desired,    \
                                                                 int order, int failure) {                             \
    exchange_if(place, &expected, desired, order, failure, REWEAVE_CALLER);                                            \
    return expected;                                                                                                   \
  }

ATOMIC(8, unsigned char)
ATOMIC(16, unsigned short)
ATOMIC(32, unsigned int)
ATOMIC(64, unsigned long)
ATOMIC(128, Wide)

REWEAVE_EXPORT void __tsan_atomic_thread_fence(int order) {
  point(OpKind::kAtomic, nullptr, REWEAVE_CALLER);
  note_fence(static_cast<std::uint8_t>(order), REWEAVE_CALLER);
}

REWEAVE_EXPORT void __tsan_atomic_signal_fence(int) {}
