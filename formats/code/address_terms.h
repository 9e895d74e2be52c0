// Values in registers as terms: two registers with the same term hold the same value. That is enough to recognise a
// function's own frame, and an instruction that accesses the address announced by the call before.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "formats/code/machine_code.h"

namespace reweave {

// The value named `symbol`, plus a constant.
struct Term {
  std::uint32_t symbol = 0;
  std::uint64_t constant = 0;

  bool operator==(const Term&) const = default;
};
// Predefined symbols: of plain numbers, and of the stack pointer on entry to the function.
inline constexpr std::uint32_t kNumber = 0, kFrame = 1;

// Makes the terms of one function.
class Terms {
 public:
  // A value about which nothing is known.
  Term fresh() { return {next_++, 0}; }
  Term sum(Term a, Term b);
  Term scaled(Term a, std::uint64_t factor);
  // The low 32 bits.
  Term narrowed(Term a);
  // The low 32 bits with their sign.
  Term sign_extended(Term a);
  // The constant value in memory at `address`.
  Term content_of(std::uint64_t address);
  // True if a term was made from the frame's address other than by adding a constant.
  bool frame_hidden() const { return frame_hidden_; }

 private:
  enum class Kind : std::uint8_t { kSum, kScaled, kNarrowed, kSignExtended, kContent };
  struct Key {
    Kind kind;
    std::uint32_t a;
    std::uint64_t b;
    std::uint64_t c;
    auto operator<=>(const Key&) const = default;
  };
  std::uint32_t made(Kind kind, std::uint32_t a, std::uint64_t b, std::uint64_t c);

  std::map<Key, std::uint32_t> known_;
  std::map<std::uint32_t, Kind> kind_of_;
  std::uint32_t next_ = kFrame + 1;
  bool frame_hidden_ = false;
};

// The state before an instruction: the terms of the general registers, and of words in the frame.
class AddressState {
 public:
  using Registers = std::array<std::optional<Term>, kGeneralRegisters>;

  // Unknown registers get fresh terms.
  AddressState(Terms& terms, const Registers& known);

  Term of(unsigned general_register) const { return registers_[general_register]; }
  // The address that a plain instruction accesses, or computes.
  Term address(const MemoryPlace& place) const;
  // Executes a plain instruction. `changes`: false if the memory that it may read never changes.
  void execute(const Instruction& instruction, bool changes);
  // Executes a call: forgets the registers that a callee need not keep. If `may_write`, forgets memory as well.
  void call(bool may_write);
  // The registers that hold plain numbers or addresses in the frame. Only these are kept at the end of a block.
  Registers known() const;
  // True if the frame's address was used in a way that this class does not follow.
  bool frame_taken() const { return frame_taken_; }

 private:
  struct Cell {
    Term address;
    std::uint8_t bytes;
    Term value;
  };

  Term loaded(const Instruction& instruction, bool changes);
  Term source(const Instruction& instruction, bool changes);
  void store(const Instruction& instruction);
  void set(unsigned number, Term value, std::uint8_t bytes);
  void move_stack(std::int64_t by) {
    registers_[kRsp] = terms_->sum(registers_[kRsp], {kNumber, static_cast<std::uint64_t>(by)});
  }
  void unknown(const Instruction& instruction);

  Terms* terms_;
  std::array<Term, kGeneralRegisters> registers_;
  std::vector<Cell> cells_;
  bool frame_taken_ = false;
};

// True if `bytes` at `a` and `other_bytes` at `b` certainly have no byte in common.
bool are_apart(Term a, std::uint64_t bytes, Term b, std::uint64_t other_bytes);

}  // namespace reweave
