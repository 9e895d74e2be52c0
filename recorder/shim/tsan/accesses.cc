// __tsan_read*, __tsan_write*, their unaligned and volatile forms, and virtual-table accesses
// (compiler-rt/lib/tsan/rtl/tsan_interface.h is the ABI that compilers emit).
#include "recorder/shim/tsan/access.h"

using namespace reweave;        // NOLINT: the ABI is global
using namespace reweave::shim;  // NOLINT

namespace {

using AccessFunction = void (*)(void*);

template <Variant kVariant, EventKind kKind, std::uint32_t kBytes>
void one_access(void* place) {
  access<kVariant, kKind, kBytes>(place, REWEAVE_CALLER);
}

// As one_access without trace and check, which most runs use: three instructions, and the caller's place and the
// address where the call left them.
template <EventKind kKind, std::uint32_t kBytes>
[[gnu::naked]] void counted_access(void*) {
  asm volatile(
      "subq $1, %%gs:8\n\t"
      "js 1f\n\t"
      "ret\n"
      "1:\tmovq %%rax, %%gs:64\n\t"
      "movq (%%rsp), %%rax\n\t"
      "movq %%rdi, %%gs:40\n\t"
      "movq %%rax, %%gs:48\n\t"
      "movl %[operation], %%gs:56\n\t"
      "movl %[bytes], %%gs:60\n\t" REWEAVE_SLOW_PATH "ret"
      :
      : [operation] "i"(static_cast<std::uint32_t>(OpKind::kAccess) | (kKind == EventKind::kRead ? 0 : 1) << 16),
        [bytes] "i"(kBytes), [deliver] "i"(kDeliverSignals));
}

template <EventKind kKind, std::uint32_t kBytes>
AccessFunction resolve() {
  switch (chosen_variant()) {
    case Variant::kTrace:
      return one_access<Variant::kTrace, kKind, kBytes>;
    case Variant::kCheck:
      return one_access<Variant::kCheck, kKind, kBytes>;
    case Variant::kCount:
      break;
  }
  return counted_access<kKind, kBytes>;
}

}  // namespace

// `name` becomes whichever function its resolver returns while the program is relocated.
#define ACCESS(name, kind, bytes)                                                          \
  extern "C" AccessFunction resolve_##name() { return resolve<EventKind::kind, bytes>(); } \
  REWEAVE_EXPORT void __tsan_##name(void*) __attribute__((ifunc("resolve_" #name)));

#define ACCESS_SIZES(prefix, kind) \
  ACCESS(prefix##1, kind, 1)       \
  ACCESS(prefix##2, kind, 2)       \
  ACCESS(prefix##4, kind, 4)       \
  ACCESS(prefix##8, kind, 8)       \
  ACCESS(prefix##16, kind, 16)

ACCESS_SIZES(read, kRead)
ACCESS_SIZES(write, kWrite)
ACCESS_SIZES(unaligned_read, kRead)
ACCESS_SIZES(unaligned_write, kWrite)
ACCESS_SIZES(volatile_read, kRead)
ACCESS_SIZES(volatile_write, kWrite)
ACCESS_SIZES(unaligned_volatile_read, kRead)
ACCESS_SIZES(unaligned_volatile_write, kWrite)
ACCESS(vptr_read, kRead, 8)

namespace {

// A read and a write of the same place in one call (clang's compound instrumentation).
template <std::uint32_t kBytes>
void read_write(void* place, std::uint64_t pc) {
  access<Variant::kCount, EventKind::kWrite, kBytes>(place, pc);
  range_event(EventKind::kRead, place, kBytes, pc);
  range_event(EventKind::kWrite, place, kBytes, pc, true);
}

}  // namespace

#define READ_WRITE(bytes)                                                                                 \
  REWEAVE_EXPORT void __tsan_read_write##bytes(void* place) { read_write<bytes>(place, REWEAVE_CALLER); } \
  REWEAVE_EXPORT void __tsan_unaligned_read_write##bytes(void* place) { read_write<bytes>(place, REWEAVE_CALLER); }
READ_WRITE(1)
READ_WRITE(2)
READ_WRITE(4)
READ_WRITE(8)
READ_WRITE(16)

// The forms that are told their place: used by code that instruments on behalf of its caller.
#define WITH_PC(bytes)                                                        \
  REWEAVE_EXPORT void __tsan_read##bytes##_pc(void* place, void* pc) {        \
    access<Variant::kCount, EventKind::kRead, bytes>(place, address_of(pc));  \
    range_event(EventKind::kRead, place, bytes, address_of(pc));              \
  }                                                                           \
  REWEAVE_EXPORT void __tsan_write##bytes##_pc(void* place, void* pc) {       \
    access<Variant::kCount, EventKind::kWrite, bytes>(place, address_of(pc)); \
    range_event(EventKind::kWrite, place, bytes, address_of(pc));             \
  }
WITH_PC(1)
WITH_PC(2)
WITH_PC(4)
WITH_PC(8)
WITH_PC(16)

// A constructor or destructor sets the virtual-table pointer: a write only if it changes.
REWEAVE_EXPORT void __tsan_vptr_update(void** place, void* value) {
  const EventKind kind = *place == value ? EventKind::kRead : EventKind::kWrite;
  point(OpKind::kAccess, place, REWEAVE_CALLER, 8);
  range_event(kind, place, 8, REWEAVE_CALLER);
}

REWEAVE_EXPORT void __tsan_read_range(void* place, unsigned long bytes) {
  point(OpKind::kAccess, place, REWEAVE_CALLER, static_cast<std::uint32_t>(bytes), 0);
  range_event(EventKind::kRead, place, bytes, REWEAVE_CALLER);
}

REWEAVE_EXPORT void __tsan_write_range(void* place, unsigned long bytes) {
  point(OpKind::kAccess, place, REWEAVE_CALLER, static_cast<std::uint32_t>(bytes));
  range_event(EventKind::kWrite, place, bytes, REWEAVE_CALLER);
}
