// One instrumented access, in the variants that runs need. The variant behind each __tsan_* function is chosen once,
// when the loader relocates the program (GNU indirect functions), so that a run pays only for what it uses.
#pragma once

#include "recorder/observation.h"
#include "recorder/shim/heap_shadow.h"
#include "recorder/shim/runtime.h"

namespace reweave::shim {

enum class Variant : std::uint8_t {
  kCount,  // a schedule point
  kTrace,  // ... and a trace record
  kCheck,  // ... and a check whether the memory was freed
};

inline Variant chosen_variant() {
  if (config().sink == Sink::kTrace) return Variant::kTrace;
  return config().detect_memory_errors != 0 ? Variant::kCheck : Variant::kCount;
}

inline bool is_quiet(std::uint64_t pc) {
  return reinterpret_cast<const std::uint8_t*>(kArenaBase + kQuietOffset)[quiet_slot(pc)] != 0;
}

constexpr std::uint8_t log2_of(std::uint64_t bytes) {
  std::uint8_t n = 0;
  while (bytes > 1) bytes >>= 1, n++;
  return n;
}

// Traces within a naked function, whose first argument is in %rdi, and returns: calls trace(that argument, caller's
// address) on the core's stack. The target's stack, the registers and the flags are unchanged, except for %rdi, which
// is left as the stubs that replace calls leave it (core/code/counting_stubs.h).
#define REWEAVE_TRACE_AND_RETURN                                                             \
  REWEAVE_TO_CORE_STACK                                                                      \
  "pushq %%rax\n\tlahf\n\tseto %%al\n\tpushq %%rax\n\tpushq %%rsi\n\t"                       \
  ".cfi_escape 0x0f, 5, 0x77, 24, 0x06, 0x23, 8\n\t" /* CFA: the word at 24(%rsp), plus 8 */ \
  "movq %%gs:80, %%rsi\n\tmovq (%%rsi), %%rsi\n\tcall %P[trace]\n\t"                         \
  "popq %%rsi\n\tpopq %%rax\n\taddb $127, %%al\n\tsahf\n\tpopq %%rax\n\t" /* of seto */      \
  "popq %%rsp\n\t.cfi_def_cfa %%rsp, 8\n\t"                                                  \
  "movq (%%rsp), %%rdi\n\tret\n"

template <Variant kVariant, EventKind kKind, std::uint32_t kBytes>
[[gnu::always_inline]] inline void access(const volatile void* place, std::uint64_t pc) {
  constexpr std::uint32_t kWrite = kKind == EventKind::kWrite ? 1 : 0;
  if (kVariant == Variant::kCheck && __builtin_expect(is_quiet(pc), 1))
    quiet_point(OpKind::kAccess, place, pc, kBytes, kWrite);
  else
    point(OpKind::kAccess, place, pc, kBytes, kWrite);
  if constexpr (kVariant == Variant::kCheck) check_heap(address_of(place), kBytes, pc);
}

// An access of any length. Counts no point; the caller does that. `again`: a second event of the same point, for which
// code that follows a schedule must not wait.
inline void range_event(EventKind kind, const volatile void* place, std::uint64_t bytes, std::uint64_t pc,
                        bool again = false) {
  if (bytes == 0) return;
  if (config().detect_now != 0) check_heap(address_of(place), bytes, pc);
  note(kind, place, pc, again ? kSamePoint : 0, bytes);
}

}  // namespace reweave::shim
