// Reads memory of the target that may not be there, on behalf of a trace: the access that is traced will fault itself.
#pragma once

#include <cstddef>

#include "recorder/runtime_state.h"

namespace reweave {

// Reads 1, 2, 4 or 8 bytes at `address`, the lowest first. False if they cannot be read. The load that faults is left
// by core/faults.cc, which continues at Thread::peek_fails.
[[gnu::always_inline, gnu::target("general-regs-only")]] inline bool peek(std::uint64_t address, std::uint64_t bytes,
                                                                          std::uint64_t& value) {
#define REWEAVE_PEEK(load)                                                          \
  asm volatile("leaq 2f(%%rip), %[value]\n\tmovq %[value], %%gs:%c[fails]\n\t" load \
               "\n\tmovl $1, %[done]\n2:\tmovq $0, %%gs:%c[fails]"                  \
               : [value] "=&r"(value), [done] "+r"(done)                            \
               : [address] "r"(address), [fails] "i"(offsetof(Thread, peek_fails))  \
               : "memory")
  std::uint32_t done = 0;
  switch (bytes) {
    case 1:
      REWEAVE_PEEK("movzbl (%[address]), %k[value]");
      break;
    case 2:
      REWEAVE_PEEK("movzwl (%[address]), %k[value]");
      break;
    case 4:
      REWEAVE_PEEK("movl (%[address]), %k[value]");
      break;
    case 8:
      REWEAVE_PEEK("movq (%[address]), %[value]");
      break;
    default:
      break;
  }
#undef REWEAVE_PEEK
  return done != 0;
}

}  // namespace reweave
