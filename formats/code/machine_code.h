// Instructions of x86-64, reduced to the needs of a data-flow analysis: the registers and memory that an instruction
// reads and writes, the next instruction, and whether data merely flows through it.
//
// Zydis decodes them; it is loaded when first needed. Instructions that Zydis does not know are not decoded. Data flows
// only through the instructions listed in machine_code.cc; all others count as looking at their data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace reweave {

// Registers by number: 0 to 15 the general ones in the processor's order (rax, rcx, rdx, rbx, rsp, ...), 16 to 47 the
// vector registers, then the flags, then all others together. A set has a bit for each.
using RegisterSet = std::uint64_t;
inline constexpr unsigned kRax = 0, kRcx = 1, kRdx = 2, kRbx = 3, kRsp = 4, kRbp = 5, kRsi = 6, kRdi = 7;
inline constexpr unsigned kGeneralRegisters = 16, kFirstVector = 16, kFlags = 48, kOtherRegister = 49;
inline constexpr unsigned kNoRegister = 64;
constexpr RegisterSet bit(unsigned number) { return number < 64 ? RegisterSet{1} << number : 0; }

// Base + index * scale + displacement. Relative to the instruction: no base, and `displacement` is the address.
struct MemoryPlace {
  unsigned base = kNoRegister, index = kNoRegister;
  std::uint8_t scale = 1;
  bool other_segment = false;  // of the thread (fs, gs)
  std::int64_t displacement = 0;
};

struct Instruction {
  enum class Kind : std::uint8_t {
    kPlain,
    kJump,          // to `target`
    kBranch,        // to `target`, or to the next instruction
    kIndirectJump,  // to an address in a register or in memory
    kCall,          // to `target`; 0 if the address is in a register or in memory
    kReturn,
    kStop,    // never continues
    kSystem,  // enters the kernel
  };
  // Instructions that an analysis of addresses follows.
  enum class Shape : std::uint8_t {
    kOther,
    kMove,
    kSignExtend,
    kAddress,
    kAdd,
    kSubtract,
    kShiftLeft,
    kPush,
    kPop,
    kLeave
  };

  std::uint64_t address = 0;
  std::uint64_t target = 0;
  std::uint8_t length = 0;
  Kind kind = Kind::kPlain;
  Shape shape = Shape::kOther;
  bool data_flows = false;  // only the written values depend on the values read
  bool compares = false;    // sets the flags by the difference of its operands, and does nothing else
  bool tests = false;       // likewise, by the bitwise AND of its operands
  bool loads = false, stores = false;
  bool several_places = false;  // accesses memory in ways that `memory` does not describe
  std::uint8_t bytes = 0;       // of the operands; for a load or store, of the access
  MemoryPlace memory;           // if it loads, stores, or is kAddress
  RegisterSet reads = 0, writes = 0;
  RegisterSet replaces = 0;    // written, losing all of their old value
  RegisterSet address_of = 0;  // registers that name the memory accessed
  // The operands that an instruction of a shape has. kNoRegister: the operand is `constant`, or in memory.
  unsigned to = kNoRegister, from = kNoRegister;
  bool has_constant = false;
  std::int64_t constant = 0;

  std::uint64_t end() const { return address + length; }
  bool is_nothing() const { return kind == Kind::kPlain && writes == 0 && !loads && !stores && reads == 0; }
};

// True if instructions can be decoded here.
bool can_decode();

// Decodes the instruction at the beginning of `code`, which is at `address`; nothing if it is not valid.
std::optional<Instruction> decode_instruction(std::span<const std::uint8_t> code, std::uint64_t address);

// All instructions of `code`, one after the other; none if a byte cannot be decoded or there are more than `most`.
std::vector<Instruction> decode_all(std::span<const std::uint8_t> code, std::uint64_t address, std::size_t most);

}  // namespace reweave
