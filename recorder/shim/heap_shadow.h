// The heap shadow: one byte for each 16 bytes of memory says which of them may be used, so that a use after free and an
// access past the end of a block are found at the access.
//
// Freed blocks stay poisoned in quarantine for a while instead of being reused at once. The memory after the requested
// size is poisoned up to the next block; blocks are allocated larger for that. Only with
// RunConfig::detect_memory_errors; otherwise nothing is mapped.
#pragma once

#include "recorder/heap_poison.h"
#include "recorder/shim/runtime.h"

namespace reweave::shim {

// Ends the run if the shadow forbids the access of `bytes` at `address`.
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

// Called before a lock, condition variable, semaphore or barrier is used. A trace records this by note_use, or by
// use_and_note if no event of the object follows. In assembly, so that operations on a free lock need no stack.
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
