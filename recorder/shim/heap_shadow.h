// Which heap memory may be used: one byte for each 16 of the heap, so that a use after free, and a use behind the end
// of a block, is found at the access.
//
// Freed blocks stay poisoned in quarantine for a while instead of being reused at once. A block's memory behind what
// was asked for is poisoned up to the next block; it is asked for longer for that. Only with
// RunConfig::detect_memory_errors; otherwise nothing is mapped.
#pragma once

#include "recorder/shim/runtime.h"

namespace reweave::shim {

// Values of a shadow byte: 0: all 16 bytes may be used, or it is no memory of a block; kFreed; kPartial + n: the first
// n (0 to 15) may.
inline constexpr std::uint8_t kFreed = 1;
inline constexpr std::uint8_t kPartial = 2;

// Ends the run, if the access of `bytes` at `address` is what the shadow does not allow.
[[gnu::cold, gnu::target("general-regs-only")]] void check_poisoned(std::uint64_t address, std::uint64_t bytes,
                                                                    std::uint64_t pc);

[[gnu::target("general-regs-only")]] inline void check_heap(std::uint64_t address, std::uint64_t bytes,
                                                            std::uint64_t pc) {
  const auto* shadow = reinterpret_cast<const std::uint8_t*>(kShadowBase);
  const std::uint64_t last = (address + bytes - 1) >> 4;
  for (std::uint64_t i = address >> 4; i <= last; i++)
    if (__builtin_expect(shadow[i] != 0, 0)) return check_poisoned(address, bytes, pc);
}

[[gnu::cold, gnu::visibility("hidden"), REWEAVE_KEEPS_REGISTERS]] void check_object(std::uint64_t address,
                                                                                    std::uint64_t pc);

// Before a lock, a condition variable, a semaphore or a barrier is used. A trace learns of it by note_use, or by
// use_and_note if no event of the object follows. By assembly, so that what is done with a free lock needs no stack.
[[gnu::always_inline]] inline void use(const volatile void* object, std::uint64_t pc) {
  if (__builtin_expect(config().detect_now == 0, 1)) return;
  asm volatile(
      "leaq -128(%%rsp), %%rsp\n\t" /* the red zone */
      "pushq %%rdi\n\tpushq %%rsi\n\tpushq %[pc]\n\tpushq %[object]\n\tpopq %%rdi\n\tpopq %%rsi\n\t"
      "movq %%rsp, %%rax\n\tandq $-16, %%rsp\n\tpushq %%rax\n\tpushq %%rax\n\t"
      "call %P[check]\n\t"
      "popq %%rax\n\tmovq %%rax, %%rsp\n\tpopq %%rsi\n\tpopq %%rdi\n\t"
      "leaq 128(%%rsp), %%rsp"
      :
      : [object] "r"(object), [pc] "r"(pc), [check] "i"(check_object)
      : "rax", "memory", "cc");
}

[[gnu::always_inline]] inline void use_and_note(const volatile void* object, std::uint64_t pc) {
  use(object, pc);
  note(EventKind::kRead, object, pc, kSamePoint, 1);
}

}  // namespace reweave::shim
