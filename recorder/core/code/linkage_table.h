// The procedure linkage table of a program or library in memory: the slots of the global offset table through which it
// calls functions of other objects, and the code that jumps through them.
#pragma once

#include <elf.h>

#include "recorder/core/code/stubs.h"
#include "recorder/core_api.h"
#include "recorder/elf_symbols.h"

namespace reweave::core {

inline constexpr std::uint8_t kJumpThroughSlot[] = {0xff, 0x25};  // jmp *distance(%rip)

// Addresses through which function `index` is called: slots of the global offset table, or entries of the linkage
// table.
struct Places {
  static constexpr std::uint32_t kMost = 128;
  struct Item {
    std::uint64_t address;
    std::uint32_t index;
  };
  std::uint32_t count = 0;
  std::uint64_t lowest = ~std::uint64_t{0}, highest = 0;
  Item items[kMost];

  // At most kMost are kept.
  void add(std::uint64_t address, std::uint32_t index) {
    if (count == kMost) return;
    items[count++] = {address, index};
    if (address < lowest) lowest = address;
    if (address > highest) highest = address;
  }
  // The index of the function at `address`; -1 if there is none.
  int find(std::uint64_t address) const {
    if (address < lowest || address > highest) return -1;
    for (std::uint32_t i = 0; i < count; i++)
      if (items[i].address == address) return static_cast<int>(items[i].index);
    return -1;
  }
};

struct Code {
  std::uint64_t start, end;
};

// True if the addresses in the object's dynamic section are absolute: the GNU C library's loader makes them so, others
// leave them as in the file.
bool is_loaded(const Elf64_Dyn* section);

// Calls use(slot, symbol, name) for each slot that the loader fills with a function's address because of the
// relocations in `table`, of size `bytes` (tags of the dynamic section).
template <typename Use>
void for_each_slot(const LoadedObject& object, Elf64_Sxword table, Elf64_Sxword bytes, Use use) {
  const auto* section = reinterpret_cast<const Elf64_Dyn*>(object.dynamic);
  const DynamicSymbols symbols(section, 0);
  const auto* first = reinterpret_cast<const Elf64_Rela*>(dynamic_value(section, table));
  if (first == nullptr) return;
  for (const Elf64_Rela* r = first; r < first + dynamic_value(section, bytes) / sizeof *first; r++) {
    const std::uint64_t type = ELF64_R_TYPE(r->r_info);
    const auto symbol = static_cast<std::uint32_t>(ELF64_R_SYM(r->r_info));
    if (type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT)
      use(object.bias + r->r_offset, symbols.items[symbol], symbols.name(symbol));
  }
}

// Adds the entries in `code` that jump through `slots`, with the same indices.
void find_entries(const Code& code, const Places& slots, Places& entries);

// The address of the jump in the entry at `entry`.
std::uint64_t jump_of(std::uint64_t entry);

}  // namespace reweave::core
