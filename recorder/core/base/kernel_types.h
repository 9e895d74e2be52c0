// The kernel's layouts of the structures it shares with signal handlers (arch/x86/include/uapi/asm/sigcontext.h,
// include/uapi/asm-generic/ucontext.h). The kernel's headers conflict with the C library's, whose types of the same
// names have other sizes.
#pragma once

#include <csignal>
#include <cstdint>

namespace reweave::core {

// Bytes below the stack pointer that a leaf function may use (System V ABI for x86-64).
inline constexpr std::uint64_t kRedZone = 128;

struct KernelStack {
  std::uint64_t base;
  std::int32_t flags;
  std::int32_t padding;
  std::uint64_t bytes;
};

struct KernelRegisters {
  std::uint64_t r8, r9, r10, r11, r12, r13, r14, r15;
  std::uint64_t rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip, eflags;
  std::uint16_t cs, gs, fs, ss;
  std::uint64_t error, trap, old_mask, fault_address;
  std::uint64_t fp_state;  // address of the floating-point state, or 0
  std::uint64_t reserved[8];
};

struct KernelContext {
  std::uint64_t flags;
  std::uint64_t link;
  KernelStack stack;
  KernelRegisters registers;
  std::uint64_t mask;
};
static_assert(sizeof(KernelRegisters) == 256);
static_assert(sizeof(KernelContext) == 304);

inline constexpr std::uint64_t kSaRestorer = 0x04000000;
inline constexpr int kSignalCount = 64;

constexpr std::uint64_t signal_bit(int number) { return std::uint64_t{1} << (number - 1); }

// Bits of `eflags`.
inline constexpr std::uint64_t kTrapFlag = 0x100, kAlignmentCheck = 0x40000;

// The interrupted program may have set AC, so that unaligned accesses fault. The kernel leaves the flag set in
// handlers, and the core does unaligned accesses.
inline void allow_unaligned(const KernelContext& interrupted) {
  if ((interrupted.registers.eflags & kAlignmentCheck) == 0) return;
  asm volatile("leaq -128(%%rsp), %%rsp; pushfq; andq %0, (%%rsp); popfq; leaq 128(%%rsp), %%rsp" ::"i"(
                   ~static_cast<int>(kAlignmentCheck))
               : "memory", "cc");
}

inline constexpr std::uint64_t kSyscallBytes =
    2;  // of the `syscall` instruction; the kernel returns to the address after it

}  // namespace reweave::core
