// Names for instants in the target's code between schedule points: the state that must be equal there, and its hashes.
#pragma once

#include "formats/wire.h"
#include "recorder/core/base/context.h"
#include "recorder/core/base/kernel_types.h"

namespace reweave::core {

struct Instant {
  std::uint64_t ip;
  std::uint64_t registers;  // hash of the general registers and the named flags
  std::uint64_t stack;      // hash of the memory just above the stack pointer
  std::uint64_t vectors;    // hash of the low halves of the vector registers
  bool operator==(const Instant&) const = default;
};
Instant instant_of(const KernelContext& context);

// True if an instant can be named at `ip`: it is in the target's code, and the instruction is neither disturbed by
// single stepping nor interruptible halfway.
bool nameable(std::uint64_t ip);
// The loader has mapped code of the file `path`, whose first byte is at `base`. The shim's memory does not count as the
// target's.
void note_shim(const char* path, std::uint64_t base);
bool is_shim(std::uint64_t address);
bool is_shim_file(const char* path);
bool is_shim_known();  // note_shim() has seen one

// Register `i` of PreemptRecord::general.
std::uint64_t& general_register(KernelRegisters& registers, std::uint32_t i);
inline constexpr std::uint32_t kGeneralRegisters = 16, kStackPointer = 15;
// Flags that are part of an instant's name: only the direction flag. Where instructions leave other flags undefined,
// processors differ (overflow after a shift, zero and sign after a product). Recordings without the layout of frames
// are older and name carry, zero, sign and overflow as well.
inline std::uint64_t named_flags() { return state().recorded_fp.bytes != 0 ? 0x400 : 0x4c1 | 0x800; }
// The arithmetic and direction flags: carry, parity, auxiliary carry, zero, sign, overflow and direction. A signal
// frame on the stack contains them, so a replay sets them as recorded.
inline constexpr std::uint64_t kKeptFlags = 0x4d5 | 0x800;

// Addresses in the core's own memory depend on how a run is carried out.
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

// Sets the words to 0 during its lifetime. They must be writable, and at most kMax.
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

// Returns the number of bytes of memory that are hashed to name an instant.
std::uint64_t hashed_bytes();

}  // namespace reweave::core
