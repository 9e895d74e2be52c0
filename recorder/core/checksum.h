// Hash of registers and writable memory, to prove a replay exact (`replay --check`).
#pragma once

#include "recorder/core/signals.h"

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

// With RunConfig::memory_checksums: logs the state as the call leaves it / compares it with the recorded one.
void log_checksum(const KernelContext& context);
void check_checksum(const KernelContext& context);

struct Region;
enum class HashedMemory {
  kPrivate,  // the process's own
  kOfTree,   // the same, and what it shares with others of the tree alone
};
bool is_hashed(const Region& region, HashedMemory which);

// Hash of all writable memory of that kind.
std::uint64_t hash_memory(HashedMemory which);

}  // namespace reweave::core
