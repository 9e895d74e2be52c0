// Names of instants of the target's own code, where no schedule point is: what is equal there, and hashes of it.
#pragma once

#include "formats/wire.h"
#include "recorder/core/context.h"
#include "recorder/core/kernel_types.h"

namespace reweave::core {

struct Instant {
  std::uint64_t ip;
  std::uint64_t registers;  // hash of the general ones, the flags that programs use, and the vectors
  std::uint64_t stack;      // hash of what lies next above the stack pointer
  std::uint64_t vectors;    // hash of the low halves of the vector registers
  bool operator==(const Instant&) const = default;
};
Instant instant_of(const KernelContext& context);

// True if an instant can be named at `ip`: the target's code, and neither an instruction that single steps disturb nor
// one that may be half done there.
bool nameable(std::uint64_t ip);
// The loader maps code of that file, whose first byte it has at `base`. The shim's memory does not count as the
// target's.
void note_shim(const char* path, std::uint64_t base);
bool is_shim(std::uint64_t address);
bool is_shim_file(const char* path);
bool is_shim_known();  // note_shim() was told of one

// Register `i` of PreemptRecord::general.
std::uint64_t& general_register(KernelRegisters& registers, std::uint32_t i);
inline constexpr std::uint32_t kGeneralRegisters = 16;
inline constexpr std::uint64_t kNamedFlags = 0x4c1 | 0x800;  // carry, zero, sign, direction, overflow
// With parity and auxiliary carry, which many instructions leave undefined; but a signal's frame on the stack has them.
inline constexpr std::uint64_t kKeptFlags = kNamedFlags | 0x14;

// Addresses of our own memory depend on how a run is carried out.
constexpr bool is_ours(std::uint64_t word) { return word >= kCoreBase && word < kOursEnd; }
constexpr std::uint64_t without_ours(std::uint64_t word) { return is_ours(word) ? 0 : word; }

inline std::uint64_t word_at(std::uint64_t address) {
  std::uint64_t word;
  memcpy(&word, reinterpret_cast<const void*>(address), sizeof word);
  return word;
}

inline void store_word(std::uint64_t address, std::uint64_t value) {
  memcpy(reinterpret_cast<void*>(address), &value, sizeof value);
}

struct NamedWords {
  static constexpr std::uint32_t kMax = 32;
  const wire::NamedWord* first;
  std::uint64_t count;
  const wire::NamedWord* begin() const { return first; }
  const wire::NamedWord* end() const { return first + count; }
};

// The words are 0 while this lives. They must be writable, and kMax at the most.
class Without {
 public:
  explicit Without(const NamedWords& words);
  ~Without();
  Without(const Without&) = delete;
  Without& operator=(const Without&) = delete;

 private:
  const NamedWords words_;
  std::uint64_t saved_[NamedWords::kMax];
};

// The bytes that it reads.
std::uint64_t hashed_bytes();

}  // namespace reweave::core
