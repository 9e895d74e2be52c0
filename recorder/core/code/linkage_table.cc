#include "recorder/core/code/linkage_table.h"

#include "recorder/core/memory/address_space.h"

namespace reweave::core {

namespace {

constexpr std::uint64_t kJumpThroughSlotBytes = sizeof kJumpThroughSlot + sizeof(std::int32_t);
constexpr std::uint8_t kBranchTarget[] = {0xf3, 0x0f, 0x1e, 0xfa};  // endbr64
constexpr std::uint8_t kBounded[] = {0xf2};                         // bnd, which older linkers put before the jump

template <std::size_t n>
std::uint64_t behind(std::uint64_t address, const std::uint8_t (&bytes)[n]) {
  return is_at(address, bytes) ? address + n : address;
}

// `address`, moved back over `bytes` if they precede it.
template <std::size_t n>
std::uint64_t before(std::uint64_t address, const std::uint8_t (&bytes)[n], std::uint64_t start) {
  return address - start >= n && is_at(address - n, bytes) ? address - n : address;
}

}  // namespace

bool is_loaded(const Elf64_Dyn* section) {
  return region_at(dynamic_value(section, DT_SYMTAB)) != nullptr &&
         region_at(dynamic_value(section, DT_STRTAB)) != nullptr;
}

void find_entries(const Code& code, const Places& slots, Places& entries) {
  for (std::uint64_t at = code.start; at + kJumpThroughSlotBytes <= code.end; at++) {
    if (*code_at(at) != kJumpThroughSlot[0] || !is_at(at, kJumpThroughSlot)) continue;
    const int index = slots.find(target_of(at + sizeof kJumpThroughSlot));
    if (index < 0) continue;
    entries.add(before(before(at, kBounded, code.start), kBranchTarget, code.start), static_cast<std::uint32_t>(index));
  }
}

std::uint64_t jump_of(std::uint64_t entry) { return behind(behind(entry, kBranchTarget), kBounded); }

}  // namespace reweave::core
