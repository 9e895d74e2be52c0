// The hash that the core names places and contents by.
#pragma once

#include <cstdint>

#include "recorder/core/base/kernel_types.h"

namespace reweave::core {

// Both halves of a product, folded: of two words of which neither is likely to be 0.
constexpr std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// One step of a multiply-and-fold hash over 64-bit words.
constexpr std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
  return fold(hash ^ word ^ 0x9e3779b97f4a7c15, 0xa0761d6478bd642f);
}

// Hash of where a call was made from: any earlier difference between the runs most likely shows here. The upper half is
// of the place, the lower one of what the program has in registers there, so that a loop's calls are seen to be of one
// place. The products do not depend on each other, for this is done at every call; the constants, digits of pi, tell
// the registers apart.
constexpr std::uint64_t context_hash(const KernelRegisters& r) {
  const std::uint64_t place = fold(r.rip ^ 0x243f6a8885a308d3, r.rsp ^ 0x13198a2e03707344);
  const std::uint64_t saved = fold(r.rbx ^ 0xa4093822299f31d0, r.rbp ^ 0x082efa98ec4e6c89) ^
                              fold(r.r12 ^ 0x452821e638d01377, r.r13 ^ 0xbe5466cf34e90c6c) ^
                              fold(r.r14 ^ 0xc0ac29b7c97c50dd, r.r15 ^ 0x3f84d5b5b5470917);
  return place << 32 | (saved & 0xffffffff);
}

}  // namespace reweave::core
