#include "recorder/core/code/jump_tables.h"

#include <sys/mman.h>

#include "recorder/core/memory/address_space.h"
#include "recorder/core/signals/protection_keys.h"

namespace reweave::core {

namespace {

constexpr std::uint64_t kNearby = 64 << 20;     // bytes between code and its tables
constexpr std::uint64_t kMostBytes = 64 << 10;  // of a table of distances from its start

// True if the word at `at` is a distance from `start` to code.
bool leads_to(const Region& code, std::uint64_t start, std::uint64_t at) {
  std::int32_t distance;
  memcpy(&distance, reinterpret_cast<const void*>(at), sizeof distance);
  const std::uint64_t target = start + static_cast<std::uint64_t>(std::int64_t{distance});
  return target >= code.start && target < code.end;
}

bool has_entry(const Region& table, std::uint64_t target, const Region& code) {
  const std::uint64_t end = table.accessible_end();
  for (std::uint64_t at = table.start; at + 4 <= end; at += 4) {
    std::int32_t distance;
    memcpy(&distance, reinterpret_cast<const void*>(at), sizeof distance);
    const std::uint64_t start = target - static_cast<std::uint64_t>(std::int64_t{distance});
    const bool may_be_entry = at - start < kMostBytes && start >= table.start && start % 4 == 0;
    if (may_be_entry && leads_to(code, start, start) && (at == start || leads_to(code, start, at - 4))) return true;
    std::uint64_t address = 0;
    if (at + 8 <= end) memcpy(&address, reinterpret_cast<const void*>(at), sizeof address);
    if (address == target) return true;
  }
  return false;
}

}  // namespace

bool is_in_jump_table(std::uint64_t target, const Region& code) {
  const AllRights to_look;
  for (std::uint32_t i = 0; i < regions().count; i++) {
    const Region& region = regions().items[i];
    const std::uint64_t farthest = region.start < code.start ? code.end - region.start : region.end - code.start;
    if (!region.of_file || region.guarded || (region.prot & PROT_READ) == 0 || farthest > kNearby) continue;
    if (has_entry(region, target, code)) return true;
  }
  return false;
}

}  // namespace reweave::core
