#include "recorder/core/code/code_patterns.h"

#include <sys/mman.h>

#include "recorder/core/base/context.h"
#include "recorder/core/code/stubs.h"
#include "recorder/core/code/trapped.h"

namespace reweave::core {

namespace {

constexpr std::uint64_t kNearby = 4096;  // distance searched for jumps to a place

std::uint32_t word_at(std::uint64_t address) {
  std::uint32_t word;
  memcpy(&word, code_at(address), sizeof word);
  return word;
}

}  // namespace

const Region* code_region(std::uint64_t address) {
  const Region* region = region_at(address);
  const bool code = region != nullptr && region->prot == (PROT_READ | PROT_EXEC) && !region->shared;
  return code && region->accessible_end() == region->end ? region : nullptr;
}

bool is_move(std::uint64_t address, long number) {
  const std::uint8_t* code = code_at(address);
  return code[0] == 0xb8 && word_at(address + 1) == static_cast<std::uint32_t>(number) && (code[-1] & 0xf0) != 0x40;
}

bool is_pause(std::uint64_t address) {
  return code_region(address) != nullptr && code_at(address)[0] == 0xf3 && code_at(address)[1] == 0x90;
}

bool is_pause_near(std::uint64_t address) {
  constexpr std::uint64_t kReach = 32;
  const Region* region = code_region(address);
  if (region == nullptr || address < region->start + kReach || address + kReach >= region->end) return false;
  const std::uint8_t* code = code_at(address - kReach);
  for (std::uint64_t i = 0; i < 2 * kReach; i++)
    if (code[i] == 0xf3 && code[i + 1] == 0x90) return true;
  return false;
}

std::uint64_t compare_bytes(std::uint64_t address) {
  const std::uint8_t* code = code_at(address);
  if (code[0] == 0x3d) return 5;
  return code[0] == 0x48 && code[1] == 0x3d ? 6 : 0;
}

std::uint64_t clock_bytes(std::uint64_t address) {
  const std::uint8_t* code = code_at(address);
  if (code[0] != 0x0f) return 0;
  if (code[1] == 0x31) return 2;
  return code[1] == 0x01 && code[2] == 0xf9 ? 3 : 0;
}

std::uint64_t trapped_clock_bytes(std::uint64_t address) {
  const std::uint8_t* code = code_at(address);
  if (code[0] != 0x0f || code[1] != kPrivilegedOpcode) return 0;
  return code[2] == 0xf9 ? 3 : 2;
}

bool is_jumped_to(std::uint64_t target, const Region& region) {
  const std::uint64_t from = target - region.start > kNearby ? target - kNearby : region.start;
  const std::uint64_t to = region.end - target > kNearby ? target + kNearby : region.end - 4;
  for (std::uint64_t at = from; at < to; at++) {
    const std::uint8_t opcode = *code_at(at);
    const bool is_short = opcode == 0xeb || (opcode & 0xf0) == 0x70 || (opcode & 0xfc) == 0xe0;
    if (is_short && at + 2 + static_cast<std::uint64_t>(static_cast<std::int8_t>(*code_at(at + 1))) == target)
      return true;
    if (at + 4 + static_cast<std::uint64_t>(static_cast<std::int32_t>(word_at(at))) == target) return true;
  }
  return false;
}

}  // namespace reweave::core
