// __tsan_read*, __tsan_write*, their unaligned and volatile forms, and virtual-table accesses
// (compiler-rt/lib/tsan/rtl/tsan_interface.h is the ABI that compilers emit).
#include <link.h>

#include <string_view>

#include "recorder/shim/tsan/access.h"

using namespace reweave;        // NOLINT: the ABI is global
using namespace reweave::shim;  // NOLINT

namespace {

using AccessFunction = void (*)(void*);

template <EventKind kKind, std::uint32_t kBytes>
void checked_access(void* place) {
  access<Variant::kCheck, kKind, kBytes>(place, REWEAVE_CALLER);
}

// A counted access continues here once the countdown has run out, with the caller's address on the stack. An access
// whose countdown has not run out may jump to the end, label 8.
#define COUNTED_POINT              \
  "movq %%rax, %%gs:64\n\t"        \
  "movq (%%rsp), %%rax\n\t"        \
  "movq %%rdi, %%gs:40\n\t"        \
  "movq %%rax, %%gs:48\n\t"        \
  "movl %[operation], %%gs:56\n\t" \
  "movl %[bytes], %%gs:60\n\t" REWEAVE_SLOW_PATH
#define RETURN "movq (%%rsp), %%rdi\n\tret\n"
#define OPERANDS [operation] "i"(operation_of(kKind)), [bytes] "i"(kBytes), [deliver] "i"(kDeliverSignals)

constexpr std::uint32_t operation_of(EventKind kind) {
  return static_cast<std::uint32_t>(OpKind::kAccess) | (kind == EventKind::kRead ? 0 : 1) << 16;
}

// Like checked_access without the check; most runs use this. It takes four instructions and leaves the caller's address
// and the argument where the call put them. %rdi is left as the stubs that replace calls leave it
// (core/code/counting_stubs.h).
template <EventKind kKind, std::uint32_t kBytes>
[[gnu::naked]] void counted_access(void*) {
  asm volatile(
      "subq $1, %%gs:8\n\t"
      "js 1f\n\t" RETURN "1:\t" COUNTED_POINT RETURN
      :
      : OPERANDS);
}

template <EventKind kKind, std::uint32_t kBytes, std::uint8_t kMarks>
[[REWEAVE_KEEPS_REGISTERS]] void trace_access(const void* place, std::uint64_t pc) {
  if (config().detect_now != 0) check_heap(address_of(place), kBytes, pc);
  if (kMarks != 0)
    trace_long(kKind, kMarks, address_of(place), pc, kBytes);
  else
    trace_value(kKind, log2_of(kBytes), address_of(place), pc);
}

// The point has the same stack layout as counted_access, to the byte, because the frame of a signal delivered there
// is below it.
template <EventKind kKind, std::uint32_t kBytes, std::uint8_t kMarks>
[[gnu::naked]] void traced_access(void*) {
  asm volatile(
      "subq $1, %%gs:8\n\t"
      "jns 8f\n\t" COUNTED_POINT REWEAVE_TRACE_AND_RETURN
      :
      : OPERANDS, [trace] "i"(trace_access<kKind, kBytes, kMarks>));
}

// The point of an access that a stub has counted (core/code/counting_stubs.h).
template <EventKind kKind, std::uint32_t kBytes>
[[gnu::naked]] void counted_point() {
  asm volatile(COUNTED_POINT RETURN : : OPERANDS);
}

// Marks of events on an object's vtable pointer.
constexpr std::uint8_t kVirtualTable = kMakesLock | kEndsLock;

// Marks of the event of `function`.
constexpr std::uint8_t marks_of(std::string_view function) { return function == "vptr_read" ? kVirtualTable : 0; }

template <EventKind kKind, std::uint32_t kBytes, std::uint8_t kMarks>
AccessFunction resolve() {
  switch (chosen_variant()) {
    case Variant::kTrace:
      return traced_access<kKind, kBytes, kMarks>;
    case Variant::kCheck:
      return checked_access<kKind, kBytes>;
    case Variant::kCount:
      break;
  }
  return counted_access<kKind, kBytes>;
}

}  // namespace

// `name` becomes the function that its resolver returns when the program is relocated.
#define ACCESS(name, kind, bytes)                                                                           \
  extern "C" AccessFunction resolve_##name() { return resolve<EventKind::kind, bytes, marks_of(#name)>(); } \
  REWEAVE_EXPORT void __tsan_##name(void*) __attribute__((ifunc("resolve_" #name)));

#define SIZES(each, prefix, kind)                                                                     \
  each(prefix##1, kind, 1) each(prefix##2, kind, 2) each(prefix##4, kind, 4) each(prefix##8, kind, 8) \
      each(prefix##16, kind, 16)

#define ALL_ACCESSES(each)                      \
  SIZES(each, read, kRead)                      \
  SIZES(each, write, kWrite)                    \
  SIZES(each, unaligned_read, kRead)            \
  SIZES(each, unaligned_write, kWrite)          \
  SIZES(each, volatile_read, kRead)             \
  SIZES(each, volatile_write, kWrite)           \
  SIZES(each, unaligned_volatile_read, kRead)   \
  SIZES(each, unaligned_volatile_write, kWrite) \
  each(vptr_read, kRead, 8)

ALL_ACCESSES(ACCESS)

extern "C" void __tsan_func_entry(void*);
extern "C" void __tsan_func_exit();

namespace {

#define COUNTED(name, kind, bytes) {"__tsan_" #name, counted_point<EventKind::kind, bytes>, __tsan_##name},
const CountedFunction kCounted[] = {ALL_ACCESSES(COUNTED){"__tsan_func_entry", nullptr, __tsan_func_entry},
                                    {"__tsan_func_exit", nullptr, reinterpret_cast<AccessFunction>(__tsan_func_exit)}};

int note_instrumented_object(struct dl_phdr_info* info, std::size_t, void* known_additions) {
  static_assert(sizeof info->dlpi_adds == sizeof(unsigned long long));
  auto& known = *static_cast<unsigned long long*>(known_additions);
  if (info->dlpi_adds == known) return 1;
  LoadedObject object = {info->dlpi_addr, 0, 0};
  for (const ElfW(Phdr)* header = info->dlpi_phdr; header < info->dlpi_phdr + info->dlpi_phnum; header++) {
    if (header->p_type == PT_DYNAMIC) object.dynamic = object.bias + header->p_vaddr;
    if (header->p_type == PT_LOAD && (header->p_flags & PF_X) != 0) object.code = object.bias + header->p_vaddr;
  }
  const CountedFunctions functions = {kCounted, sizeof kCounted / sizeof kCounted[0]};
  if (object.dynamic != 0 && object.code != 0)
    api().note_instrumented(object, functions, chosen_variant() == Variant::kCount);
  return 0;
}

}  // namespace

// The constructor of each instrumented translation unit calls it first. All objects loaded since the last call are
// noted, because the caller is unknown: the call may be a tail call of the constructor.
REWEAVE_EXPORT void __tsan_init() {
  static unsigned long long known_additions;
  dl_iterate_phdr(note_instrumented_object, &known_additions);
  dl_iterate_phdr(
      [](struct dl_phdr_info* info, std::size_t, void* known) {
        *static_cast<unsigned long long*>(known) = info->dlpi_adds;
        return 1;
      },
      &known_additions);
}

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

// Forms with an explicit pc, used by code that instruments on behalf of its caller.
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

// A constructor or destructor sets the vtable pointer. That is a write only if the pointer changes.
REWEAVE_EXPORT void __tsan_vptr_update(void** place, void* value) {
  const EventKind kind = *place == value ? EventKind::kRead : EventKind::kWrite;
  point(OpKind::kAccess, place, REWEAVE_CALLER, 8);
  if (config().detect_now != 0) check_heap(address_of(place), 8, REWEAVE_CALLER);
  note(kind, place, REWEAVE_CALLER, kVirtualTable, 8);
}

REWEAVE_EXPORT void __tsan_read_range(void* place, unsigned long bytes) {
  point(OpKind::kAccess, place, REWEAVE_CALLER, static_cast<std::uint32_t>(bytes), 0);
  range_event(EventKind::kRead, place, bytes, REWEAVE_CALLER);
}

REWEAVE_EXPORT void __tsan_write_range(void* place, unsigned long bytes) {
  point(OpKind::kAccess, place, REWEAVE_CALLER, static_cast<std::uint32_t>(bytes));
  range_event(EventKind::kWrite, place, bytes, REWEAVE_CALLER);
}

REWEAVE_EXPORT void __tsan_read_range_pc(void* place, unsigned long bytes, void* pc) {
  point(OpKind::kAccess, place, address_of(pc), static_cast<std::uint32_t>(bytes), 0);
  range_event(EventKind::kRead, place, bytes, address_of(pc));
}

REWEAVE_EXPORT void __tsan_write_range_pc(void* place, unsigned long bytes, void* pc) {
  point(OpKind::kAccess, place, address_of(pc), static_cast<std::uint32_t>(bytes));
  range_event(EventKind::kWrite, place, bytes, address_of(pc));
}
