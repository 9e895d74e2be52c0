#include "recorder/core/code/code_patterns.h"

#include <sys/mman.h>

#include "recorder/core/base/context.h"
#include "recorder/core/code/stubs.h"
#include "recorder/core/code/trapped.h"

namespace reweave::core {

namespace {

constexpr std::uint64_t kNearby = 4096;  // how far a jump to a place is looked for

std::uint32_t word_at(std::uint64_t address) {
  std::uint32_t word;
  memcpy(&word, code_at(address), sizeof word);
  return word;
}

// Operations between two registers (op r/m, r), of which nothing but flags and the result depends.
constexpr std::uint8_t kBetweenRegisters[] = {0x89, 0x8b, 0x01, 0x09, 0x21, 0x29, 0x31, 0x39, 0x85};

bool is_between_registers(std::uint8_t opcode) {
  for (const std::uint8_t known : kBetweenRegisters)
    if (known == opcode) return true;
  return false;
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

std::uint64_t movable_bytes(std::uint64_t address) {
  const std::uint8_t* code = code_at(address);
  if (code[0] == 0x0f && code[1] == 0xae && code[2] == 0xe8) return 3;  // lfence
  const std::uint64_t prefix = (code[0] & 0xf0) == 0x40 ? 1 : 0;        // REX
  const std::uint8_t opcode = code[prefix], operands = code[prefix + 1];
  const bool registers = (operands & 0xc0) == 0xc0;
  if (opcode == 0xc1 && registers) return prefix + 3;  // a shift by a constant
  if (is_between_registers(opcode) && registers) return prefix + 2;
  const bool near_rbp = (operands & 0xc7) == 0x45 && (prefix == 0 || (code[0] & 1) == 0);
  return opcode == 0x89 && near_rbp ? prefix + 3 : 0;
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
