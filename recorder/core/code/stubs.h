// The core's code near the target's: stubs within a jump's reach of it, and the jumps to them. All of it is readable
// and executable; it is writable only while it is written, with the baton, when no other thread executes it.
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

inline constexpr std::uint64_t kJumpBytes = 5;  // of a call, too
inline constexpr std::uint8_t kJump[] = {0xe9};
inline constexpr std::uint8_t kCall[] = {0xe8};
inline constexpr std::uint8_t kReturn[] = {0xc3};
inline constexpr std::uint8_t kNop[] = {0x90};

inline const std::uint8_t* code_at(std::uint64_t address) { return reinterpret_cast<const std::uint8_t*>(address); }

template <std::size_t n>
bool is_at(std::uint64_t address, const std::uint8_t (&bytes)[n]) {
  return __builtin_memcmp(code_at(address), bytes, n) == 0;
}

// The target of an instruction that ends with a distance, at `distance_at`.
std::uint64_t target_of(std::uint64_t distance_at);

// True if `address` is in a stub.
bool in_stub(std::uint64_t address);

// Allocates `bytes` of code space, a multiple of 64, within reach of a jump at `address`; 0 if there is none.
std::uint64_t new_stub(std::uint64_t address, std::uint64_t bytes);

// Bytes that new_stub() can still allocate there.
std::uint64_t stub_room(std::uint64_t address);

// Replaces the first bytes of the code at `from` by a jump (or a call: kCall) to `to`. False if that memory cannot be
// changed.
bool write_jump(std::uint64_t from, std::uint64_t to, const std::uint8_t (&opcode)[1] = kJump);
// True if there is one at `from`.
bool jumps_to(std::uint64_t from, std::uint64_t to);

// Makes `bytes` at `address` writable during its lifetime, if possible; afterwards they have the protection `after`, by
// default that of code.
class Writable {
 public:
  Writable(std::uint64_t address, std::uint64_t bytes, int after = kCode);
  ~Writable();
  Writable(const Writable&) = delete;
  Writable& operator=(const Writable&) = delete;
  bool done() const { return done_; }

 private:
  static constexpr int kCode = 5;  // PROT_READ | PROT_EXEC
  std::uint64_t start_, bytes_;
  int after_;
  bool done_;
};

// Writes code sequentially.
class Assembler {
 public:
  explicit Assembler(std::uint64_t at) : at_(at) {}
  std::uint64_t at() const { return at_; }
  void copy(std::uint64_t from, std::uint64_t bytes) {
    memcpy(reinterpret_cast<void*>(at_), code_at(from), bytes);
    at_ += bytes;
  }
  template <std::size_t n>
  void put(const std::uint8_t (&bytes)[n]) {
    copy(reinterpret_cast<std::uint64_t>(bytes), n);
  }
  // An instruction that ends with the distance to `target`.
  template <std::size_t n>
  void put(const std::uint8_t (&bytes)[n], std::uint64_t target) {
    put(bytes);
    const auto distance = static_cast<std::int32_t>(target - (at_ + 4));
    copy(reinterpret_cast<std::uint64_t>(&distance), sizeof distance);
  }

 private:
  std::uint64_t at_;
};

}  // namespace reweave::core
