// The hash by which the core identifies places and contents.
#pragma once

#include <cstdint>

#include "recorder/core/base/kernel_types.h"

namespace reweave::core {

// Multiplies two words and folds both halves of the product. Neither word should be likely to be 0.
constexpr std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// One step of a multiply-and-fold hash over 64-bit words.
constexpr std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
  return fold(hash ^ word ^ 0x9e3779b97f4a7c15, 0xa0761d6478bd642f);
}

// Hash of the registers at a call; an earlier difference between two runs most likely shows here. The upper half hashes
// the place, the lower half the callee-saved registers, so that all calls of a loop share the upper half. The products
// are independent of each other because this runs at every call. The constants (digits of pi) make the registers
// distinguishable.
constexpr std::uint64_t context_hash(const KernelRegisters& r) {
  const std::uint64_t place = fold(r.rip ^ 0x243f6a8885a308d3, r.rsp ^ 0x13198a2e03707344);
  const std::uint64_t saved = fold(r.rbx ^ 0xa4093822299f31d0, r.rbp ^ 0x082efa98ec4e6c89) ^
                              fold(r.r12 ^ 0x452821e638d01377, r.r13 ^ 0xbe5466cf34e90c6c) ^
                              fold(r.r14 ^ 0xc0ac29b7c97c50dd, r.r15 ^ 0x3f84d5b5b5470917);
  return place << 32 | (saved & 0xffffffff);
}

}  // namespace reweave::core
