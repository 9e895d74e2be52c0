// The functions that the headers in sanitizer/ declare: allocator_interface.h, common_interface_defs.h,
// tsan_interface.h. `reweave` makes the reports, not the program, so functions about reports have nothing to return
// (runtime_names.inc has those that do nothing at all).
#include <dlfcn.h>
#include <linux/futex.h>
#include <malloc.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cstdint>

#include "recorder/shim/tsan/access.h"
#include "recorder/shim/tsan/edges.h"

using namespace reweave;        // NOLINT: the ABI is global
using namespace reweave::shim;  // NOLINT
using std::size_t;

extern "C" int backtrace(void**, int);
extern "C" void backtrace_symbols_fd(void* const*, int, int);

// The heap.
REWEAVE_EXPORT size_t __sanitizer_get_estimated_allocated_size(size_t bytes) { return bytes; }
REWEAVE_EXPORT size_t __sanitizer_get_allocated_size(const void* block) {
  return malloc_usable_size(const_cast<void*>(block));
}
REWEAVE_EXPORT int __sanitizer_get_ownership(const void* block) { return block != nullptr ? 1 : 0; }
REWEAVE_EXPORT size_t __sanitizer_get_current_allocated_bytes() { return mallinfo2().uordblks; }
REWEAVE_EXPORT size_t __sanitizer_get_heap_size() { return mallinfo2().arena + mallinfo2().hblkhd; }
REWEAVE_EXPORT size_t __sanitizer_get_free_bytes() { return mallinfo2().fordblks; }
REWEAVE_EXPORT size_t __sanitizer_get_unmapped_bytes() { return 0; }

// Code addresses.
REWEAVE_EXPORT void __sanitizer_print_stack_trace() {
  void* frames[64];
  backtrace_symbols_fd(frames, backtrace(frames, 64), STDERR_FILENO);
}

namespace {

void copy_text(const char* text, char* to, size_t bytes) {
  size_t n = 0;
  for (; n + 1 < bytes && text[n] != 0; n++) to[n] = text[n];
  if (bytes != 0) to[n] = 0;
}

}  // namespace

// As in ThreadSanitizer without a symbolizer.
REWEAVE_EXPORT void __sanitizer_symbolize_pc(void*, const char*, char* out, size_t bytes) {
  copy_text("<can't symbolize>", out, bytes);
}
REWEAVE_EXPORT void __sanitizer_symbolize_global(void*, const char*, char* out, size_t bytes) {
  copy_text("<can't symbolize>", out, bytes);
}
REWEAVE_EXPORT int __sanitizer_get_module_and_offset_for_pc(void* pc, char* module, size_t bytes, void** offset) {
  Dl_info info;
  if (dladdr(pc, &info) == 0) return 0;
  copy_text(info.dli_fname, module, bytes);
  if (offset != nullptr) *offset = reinterpret_cast<void*>(address_of(pc) - address_of(info.dli_fbase));
  return 1;
}
REWEAVE_EXPORT const char* __sanitizer_get_report_path() { return "stderr"; }

// Programs may define these three to set the runtime's options.
REWEAVE_EXPORT [[gnu::weak]] const char* __tsan_default_options() { return ""; }
REWEAVE_EXPORT [[gnu::weak]] const char* __tsan_default_suppressions() { return ""; }
REWEAVE_EXPORT [[gnu::weak]] const char* __sancov_default_options() { return ""; }

// Finds nothing, because there is no current report that could contain the address.
REWEAVE_EXPORT const char* __tsan_locate_address(std::uint64_t, char* name, size_t bytes, std::uint64_t* start,
                                                 size_t* size) {
  copy_text("", name, bytes);
  *start = *size = 0;
  return "";
}

// The barrier of ThreadSanitizer's own tests, invisible to a race detector. The lower half counts threads, the upper
// half arrivals.
REWEAVE_EXPORT void __tsan_testonly_barrier_init(std::uint64_t* barrier, unsigned count) { *barrier = count; }
REWEAVE_EXPORT void __tsan_testonly_barrier_wait(std::uint64_t* barrier) {
  auto* arrivals = reinterpret_cast<unsigned*>(barrier) + 1;
  const auto count = static_cast<unsigned>(*barrier);
  const unsigned mine = (*arrivals)++;
  const unsigned round = mine / count;
  if ((mine + 1) % count == 0) {
    syscall(SYS_futex, arrivals, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
    return;
  }
  for (unsigned now = *arrivals; now / count == round; now = *const_cast<volatile unsigned*>(arrivals))
    syscall(SYS_futex, arrivals, FUTEX_WAIT, now, nullptr, nullptr, 0);
}

#define UNALIGNED(bits)                                                                           \
  REWEAVE_EXPORT std::uint##bits##_t __sanitizer_unaligned_load##bits(const void* place) {        \
    access<Variant::kCount, EventKind::kRead, (bits) / 8>(place, REWEAVE_CALLER);                 \
    range_event(EventKind::kRead, place, (bits) / 8, REWEAVE_CALLER);                             \
    std::uint##bits##_t value;                                                                    \
    __builtin_memcpy(&value, place, sizeof value);                                                \
    return value;                                                                                 \
  }                                                                                               \
  REWEAVE_EXPORT void __sanitizer_unaligned_store##bits(void* place, std::uint##bits##_t value) { \
    access<Variant::kCount, EventKind::kWrite, (bits) / 8>(place, REWEAVE_CALLER);                \
    range_event(EventKind::kWrite, place, (bits) / 8, REWEAVE_CALLER);                            \
    __builtin_memcpy(place, &value, sizeof value);                                                \
  }
UNALIGNED(16)
UNALIGNED(32)
UNALIGNED(64)

// The Java interface: locks and edges declared by the program. The Java heap is not tracked.
REWEAVE_EXPORT void __tsan_java_acquire(void* place) { acquire_edge(place, REWEAVE_CALLER); }
REWEAVE_EXPORT void __tsan_java_release(void* place) { release_edge(place, REWEAVE_CALLER); }
REWEAVE_EXPORT void __tsan_java_release_store(void* place) {
  point(OpKind::kAtomic, place, REWEAVE_CALLER, 8);
  note(EventKind::kAtomicStore, place, REWEAVE_CALLER, __ATOMIC_RELEASE, 0);
}

namespace {

void java_lock(EventKind kind, void* lock, LockMode mode, std::uint64_t pc) {
  point(kind == EventKind::kLock ? OpKind::kLock : OpKind::kUnlock, lock, pc);
  note(kind, lock, pc, static_cast<std::uint8_t>(mode));
}

}  // namespace

#define JAVA_LOCK(name, kind, mode)                                   \
  REWEAVE_EXPORT void __tsan_java_mutex_##name(void* lock) {          \
    java_lock(EventKind::kind, lock, LockMode::mode, REWEAVE_CALLER); \
  }
JAVA_LOCK(lock, kLock, kExclusive)
JAVA_LOCK(unlock, kUnlock, kExclusive)
JAVA_LOCK(read_lock, kLock, kShared)
JAVA_LOCK(read_unlock, kUnlock, kShared)
// A recursive lock that is released completely during a wait, and then acquired as many times as it was held.
REWEAVE_EXPORT void __tsan_java_mutex_lock_rec(void* lock, int times) {
  for (; times > 0; times--) java_lock(EventKind::kLock, lock, LockMode::kExclusive, REWEAVE_CALLER);
}
REWEAVE_EXPORT int __tsan_java_mutex_unlock_rec(void* lock) {
  java_lock(EventKind::kUnlock, lock, LockMode::kExclusive, REWEAVE_CALLER);
  return 1;
}
