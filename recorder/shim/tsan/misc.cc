// The rest of the ThreadSanitizer ABI: start, function entry and exit, and the annotations by which programs describe
// their own synchronisation.
#include "recorder/shim/real.h"
#include "recorder/shim/tsan/access.h"
#include "recorder/shim/tsan/edges.h"

using namespace reweave;        // NOLINT: the ABI is global
using namespace reweave::shim;  // NOLINT

namespace {

using EntryFunction = void (*)(void*);
using ExitFunction = void (*)();

[[REWEAVE_KEEPS_REGISTERS]] void trace_entry(const void* return_address, std::uint64_t) {
  trace_short(EventKind::kCall, 0, 0, address_of(return_address));
}
[[REWEAVE_KEEPS_REGISTERS]] void trace_exit(const void*, std::uint64_t pc) {
  trace_short(EventKind::kReturn, 0, 0, pc);
}
[[gnu::naked]] void traced_entry(void*) { asm volatile(REWEAVE_TRACE_AND_RETURN : : [trace] "i"(trace_entry)); }
[[gnu::naked]] void traced_exit() { asm volatile(REWEAVE_TRACE_AND_RETURN : : [trace] "i"(trace_exit)); }
// Leave %rdi as the stubs that replace the call do (core/code/counting_stubs.h).
[[gnu::naked]] void no_entry(void*) { asm volatile("movq (%%rsp), %%rdi\n\tret" ::); }
[[gnu::naked]] void no_exit() { asm volatile("movq (%%rsp), %%rdi\n\tret" ::); }

Real<int(void*)> real_guard_acquire = {"__cxa_guard_acquire"};
Real<void(void*)> real_guard_release = {"__cxa_guard_release"};

// A lock implemented by the program itself.
void note_lock(void* lock, EventKind kind, unsigned flags, std::uint64_t pc) {
  constexpr unsigned kReadLock = 1u << 3;  // __tsan_mutex_read_lock
  point(kind == EventKind::kLock ? OpKind::kLock : OpKind::kUnlock, lock, pc);
  note(kind, lock, pc, static_cast<std::uint8_t>((flags & kReadLock) != 0 ? LockMode::kShared : LockMode::kExclusive));
}

// `begins`: 1 or 0.
void ignore_all(std::uint64_t begins, std::uint64_t pc) {
  for (const Hint hint : {Hint::kIgnoresReads, Hint::kIgnoresWrites, Hint::kIgnoresOrder})
    note_hint(hint, nullptr, pc, begins);
}

}  // namespace

extern "C" EntryFunction resolve_func_entry() { return tracing() ? traced_entry : no_entry; }
extern "C" ExitFunction resolve_func_exit() { return tracing() ? traced_exit : no_exit; }
REWEAVE_EXPORT void __tsan_func_entry(void*) __attribute__((ifunc("resolve_func_entry")));
REWEAVE_EXPORT void __tsan_func_exit() __attribute__((ifunc("resolve_func_exit")));

REWEAVE_EXPORT void __tsan_flush_memory() {}
REWEAVE_EXPORT void __tsan_ignore_thread_begin() { ignore_all(1, REWEAVE_CALLER); }
REWEAVE_EXPORT void __tsan_ignore_thread_end() { ignore_all(0, REWEAVE_CALLER); }
REWEAVE_EXPORT void __tsan_on_thread_idle() {}

// Happens-before edges: what precedes a release is visible after an acquire of the same address.
REWEAVE_EXPORT void __tsan_acquire(void* place) { acquire_edge(place, REWEAVE_CALLER); }
REWEAVE_EXPORT void __tsan_release(void* place) { release_edge(place, REWEAVE_CALLER); }

// The C library does not export this symbol: each object links its own copy, unless it finds the runtime's.
extern "C" int __cxa_atexit(void (*)(void*), void*, void*);
REWEAVE_EXPORT int atexit(void (*function)()) {
  return __cxa_atexit([](void* given) { reinterpret_cast<void (*)()>(given)(); }, reinterpret_cast<void*>(function),
                      nullptr);
}

// Static variables of functions: the C++ library's own code is not instrumented, and it orders a thread that finds the
// variable initialised after the thread that initialised it.
REWEAVE_EXPORT int __cxa_guard_acquire(void* guard) {
  point(OpKind::kAtomic, guard, REWEAVE_CALLER, 8, 0);
  const int is_ours = real_guard_acquire(guard);
  if (is_ours == 0) note(EventKind::kAtomicLoad, guard, REWEAVE_CALLER, __ATOMIC_ACQUIRE, 1);
  return is_ours;
}
REWEAVE_EXPORT void __cxa_guard_release(void* guard) {
  point(OpKind::kAtomic, guard, REWEAVE_CALLER, 8);
  note(EventKind::kAtomicStore, guard, REWEAVE_CALLER, __ATOMIC_RELEASE, 1);
  real_guard_release(guard);
}

REWEAVE_EXPORT void __tsan_mutex_create(void*, unsigned) {}
REWEAVE_EXPORT void __tsan_mutex_destroy(void*, unsigned) {}
// Accesses between pre and post are the lock's implementation: the lock itself orders threads, not the accesses to its
// words.
REWEAVE_EXPORT void __tsan_mutex_pre_lock(void*, unsigned) { ignore_all(1, REWEAVE_CALLER); }
REWEAVE_EXPORT void __tsan_mutex_post_lock(void* lock, unsigned flags, int) {
  constexpr unsigned kFailed = 1u << 5;  // __tsan_mutex_try_lock_failed
  ignore_all(0, REWEAVE_CALLER);
  if ((flags & kFailed) == 0) note_lock(lock, EventKind::kLock, flags, REWEAVE_CALLER);
}
REWEAVE_EXPORT int __tsan_mutex_pre_unlock(void* lock, unsigned flags) {
  note_lock(lock, EventKind::kUnlock, flags, REWEAVE_CALLER);
  ignore_all(1, REWEAVE_CALLER);
  return 1;
}
REWEAVE_EXPORT void __tsan_mutex_post_unlock(void*, unsigned) { ignore_all(0, REWEAVE_CALLER); }
REWEAVE_EXPORT void __tsan_mutex_pre_signal(void*, unsigned) { ignore_all(1, REWEAVE_CALLER); }
REWEAVE_EXPORT void __tsan_mutex_post_signal(void*, unsigned) { ignore_all(0, REWEAVE_CALLER); }
REWEAVE_EXPORT void __tsan_mutex_pre_divert(void*, unsigned) { ignore_all(0, REWEAVE_CALLER); }
REWEAVE_EXPORT void __tsan_mutex_post_divert(void*, unsigned) { ignore_all(1, REWEAVE_CALLER); }

REWEAVE_EXPORT void* __tsan_external_register_tag(const char*) { return nullptr; }
REWEAVE_EXPORT void __tsan_external_register_header(void*, const char*) {}
REWEAVE_EXPORT void __tsan_external_assign_tag(void*, void*) {}
REWEAVE_EXPORT void __tsan_external_read(void* place, void* pc, void*) {
  point(OpKind::kAccess, place, address_of(pc), 1, 0);
  range_event(EventKind::kRead, place, 1, address_of(pc));
}
REWEAVE_EXPORT void __tsan_external_write(void* place, void* pc, void*) {
  point(OpKind::kAccess, place, address_of(pc), 1);
  range_event(EventKind::kWrite, place, 1, address_of(pc));
}

// The annotations of dynamic_annotations.h.
REWEAVE_EXPORT void AnnotateHappensBefore(const char*, int, const volatile void* place) {
  release_edge(place, REWEAVE_CALLER);
}
REWEAVE_EXPORT void AnnotateHappensAfter(const char*, int, const volatile void* place) {
  acquire_edge(place, REWEAVE_CALLER);
}
REWEAVE_EXPORT void AnnotateRWLockCreate(const char*, int, const volatile void*) {}
REWEAVE_EXPORT void AnnotateRWLockCreateStatic(const char*, int, const volatile void*) {}
REWEAVE_EXPORT void AnnotateRWLockDestroy(const char*, int, const volatile void*) {}
REWEAVE_EXPORT void AnnotateRWLockAcquired(const char*, int, const volatile void* lock, long writer) {
  note(EventKind::kLock, lock, REWEAVE_CALLER, writer != 0 ? 0 : 1);
}
REWEAVE_EXPORT void AnnotateRWLockReleased(const char*, int, const volatile void* lock, long writer) {
  note(EventKind::kUnlock, lock, REWEAVE_CALLER, writer != 0 ? 0 : 1);
}
REWEAVE_EXPORT void AnnotateBenignRace(const char*, int, const volatile void* place, const char*) {
  note_hint(Hint::kBenign, place, REWEAVE_CALLER, 1);
}
REWEAVE_EXPORT void AnnotateBenignRaceSized(const char*, int, const volatile void* place, long bytes, const char*) {
  note_hint(Hint::kBenign, place, REWEAVE_CALLER, static_cast<std::uint64_t>(bytes));
}
REWEAVE_EXPORT void AnnotateIgnoreReadsBegin(const char*, int) {
  note_hint(Hint::kIgnoresReads, nullptr, REWEAVE_CALLER, 1);
}
REWEAVE_EXPORT void AnnotateIgnoreReadsEnd(const char*, int) {
  note_hint(Hint::kIgnoresReads, nullptr, REWEAVE_CALLER, 0);
}
REWEAVE_EXPORT void AnnotateIgnoreWritesBegin(const char*, int) {
  note_hint(Hint::kIgnoresWrites, nullptr, REWEAVE_CALLER, 1);
}
REWEAVE_EXPORT void AnnotateIgnoreWritesEnd(const char*, int) {
  note_hint(Hint::kIgnoresWrites, nullptr, REWEAVE_CALLER, 0);
}
REWEAVE_EXPORT void AnnotateIgnoreSyncBegin(const char*, int) {
  note_hint(Hint::kIgnoresOrder, nullptr, REWEAVE_CALLER, 1);
}
REWEAVE_EXPORT void AnnotateIgnoreSyncEnd(const char*, int) {
  note_hint(Hint::kIgnoresOrder, nullptr, REWEAVE_CALLER, 0);
}
REWEAVE_EXPORT void AnnotateThreadName(const char*, int, const char*) {}
REWEAVE_EXPORT void AnnotateFlushState(const char*, int) {}
REWEAVE_EXPORT void AnnotateNewMemory(const char*, int, const volatile void*, long) {}
REWEAVE_EXPORT void AnnotateNoOp(const char*, int, const volatile void*) {}
REWEAVE_EXPORT void AnnotateEnableRaceDetection(const char*, int, int) {}
REWEAVE_EXPORT void AnnotateMutexIsUsedAsCondVar(const char*, int, const volatile void*) {}
REWEAVE_EXPORT void AnnotateMutexIsNotPHB(const char*, int, const volatile void*) {}
REWEAVE_EXPORT void AnnotateCondVarWait(const char*, int, const volatile void*, const volatile void*) {}
REWEAVE_EXPORT void AnnotateCondVarSignal(const char*, int, const volatile void*) {}
REWEAVE_EXPORT void AnnotateCondVarSignalAll(const char*, int, const volatile void*) {}
REWEAVE_EXPORT void AnnotatePublishMemoryRange(const char*, int, const volatile void*, long) {}
REWEAVE_EXPORT void AnnotateUnpublishMemoryRange(const char*, int, const volatile void*, long) {}
REWEAVE_EXPORT void AnnotateTraceMemory(const char*, int, const volatile void*) {}
REWEAVE_EXPORT void AnnotateExpectRace(const char*, int, const volatile void*, const char*) {}
REWEAVE_EXPORT void AnnotateFlushExpectedRaces(const char*, int) {}
REWEAVE_EXPORT void AnnotatePCQCreate(const char*, int, const volatile void*) {}
REWEAVE_EXPORT void AnnotatePCQDestroy(const char*, int, const volatile void*) {}
REWEAVE_EXPORT void AnnotatePCQPut(const char*, int, const volatile void*) {}
REWEAVE_EXPORT void AnnotatePCQGet(const char*, int, const volatile void*) {}
REWEAVE_EXPORT int RunningOnValgrind() { return 0; }
REWEAVE_EXPORT double ValgrindSlowdown() { return 1; }
