// The table of a program's accesses, which reweave-cc puts into the section `reweave_sleds`.
//
// Before each access there is a sled, an instruction of five bytes that does nothing. The table has an entry for each
// sled: a SledEntry, then as many instructions `lea OPERAND, %rdi` as it has operands, which compute the operands with
// the registers and the stack pointer that the sled finds. They are never executed in the table, only copied
// (recorder/core/code/sleds.h). Entries are aligned to 4 bytes, because programs may ask the processor to fault at
// unaligned reads. A note (elf(5)) says where the table is. Each address is relative to its own place, so that the
// loader need not relocate it.
#pragma once

#include <cstdint>

namespace reweave {

inline constexpr char kSledNoteName[] = "Reweave";  // of the note, with its final zero byte: 8 bytes
inline constexpr std::uint32_t kSledNoteType = 1;   // grows with each change of the format

// The contents of the note: distances from each field to the table's start and end.
struct SledNote {
  std::int32_t start, end;
};

// nopl 0x52(%rax,%rax): assemblers pad code with the same instruction, but with a distance of 0.
inline constexpr std::uint32_t kSledBytes = 5;
inline constexpr unsigned char kSled[kSledBytes] = {0x0f, 0x1f, 0x44, 0x00, 0x52};

enum class SledKind : std::uint8_t {
  kRead = 0,
  kWrite,
  kAtomicLoad,
  kAtomicStore,
  kAtomicRmw,
  kCompareExchange,  // the second operand is the value that is expected
  kFence,            // no operand
  kReadRange,        // a block that is copied
  kWriteRange,       // a block that is copied or set
  kTableRead,        // read of an object's pointer to its virtual table
  kTableUpdate,      // write of that pointer, by a constructor or destructor; the second operand is the value
};
inline constexpr std::uint8_t kSledKinds = 11;

// Bit of SledEntry::flags: the sled's schedule point is that of the sled before it.
inline constexpr std::uint8_t kSledSamePoint = 1;

struct SledEntry {
  std::int32_t distance;  // from this field to the sled
  SledKind kind;
  std::uint8_t order;     // atomic operation: C++'s memory_order; the one for failure in the upper four bits
  std::uint8_t flags;     // kSledSamePoint
  std::uint8_t operands;  // 0: none; 1: the address; 2: also a value
  std::uint32_t bytes;    // size of the access
};
static_assert(sizeof(SledEntry) == 12);

// Returns the address after the sled, where the program continues. This address identifies the access.
inline std::uint64_t address_after_sled(const SledEntry& entry) {
  return reinterpret_cast<std::uint64_t>(&entry) + static_cast<std::uint64_t>(std::int64_t{entry.distance}) +
         kSledBytes;
}

}  // namespace reweave
