#include "recorder/core/code/moved_code.h"

#include "recorder/core/code/code_patterns.h"
#include "recorder/core/code/instruction.h"
#include "recorder/core/code/jump_tables.h"
#include "recorder/core/code/patching.h"

namespace reweave::core {

namespace {

constexpr std::uint8_t kMakeRoom[] = {0x48, 0x8d, 0x64, 0x24, 0xf8};  // lea -8(%rsp), %rsp
constexpr std::uint8_t kStoreLow[] = {0xc7, 0x04, 0x24};              // movl $.., (%rsp)
constexpr std::uint8_t kStoreHigh[] = {0xc7, 0x44, 0x24, 0x04};       // movl $.., 4(%rsp)

// The distance of an instruction at `from` when executed at `to`.
std::int64_t moved_distance(std::uint64_t from, std::uint8_t distance_at, std::uint64_t to) {
  std::int32_t distance;
  memcpy(&distance, code_at(from + distance_at), sizeof distance);
  return distance + static_cast<std::int64_t>(from - to);
}

void copy_instruction(Assembler& code, std::uint64_t from, const Instruction& found) {
  const std::uint64_t to = code.at();
  code.copy(from, found.bytes);
  if (found.distance_at == 0) return;
  const auto distance = static_cast<std::int32_t>(moved_distance(from, found.distance_at, to));
  Assembler(to + found.distance_at).copy(reinterpret_cast<std::uint64_t>(&distance), sizeof distance);
}

// `jcc`, `jmp`, or a branch on rcx, which has no long form and jumps to a jump.
void put_branch(Assembler& code, std::uint64_t from, const Instruction& found) {
  const std::uint64_t after = from + found.bytes;
  const std::uint8_t opcode = *code_at(from);
  const std::uint64_t target =
      after + static_cast<std::uint64_t>(std::int64_t{static_cast<std::int8_t>(*code_at(after - 1))});
  if (!found.falls_through) return code.put(kJump, target);
  if ((opcode & 0xf0) == 0x70) {
    const std::uint8_t near[] = {0x0f, static_cast<std::uint8_t>(0x80 | (opcode & 0xf))};
    return code.put(near, target);
  }
  const std::uint8_t counts[] = {opcode, 2, 0xeb, kJumpBytes};  // skips a short jump, which skips the long one
  code.put(counts);
  code.put(kJump, target);
}

// Pushes the return address of the original call, without changing flags; the call then becomes a jump.
void put_call(Assembler& code, std::uint64_t from, const Instruction& found) {
  const std::uint64_t after = from + found.bytes;
  code.put(kMakeRoom);
  code.put(kStoreLow);
  code.copy(reinterpret_cast<std::uint64_t>(&after), 4);
  code.put(kStoreHigh);
  code.copy(reinterpret_cast<std::uint64_t>(&after) + 4, 4);
  if (found.distance_at != 0 && is_at(from + found.distance_at - 1, kCall))
    return code.put(kJump, target_of(from + found.distance_at));
  constexpr std::uint8_t kFromCallToJump = (2 ^ 4) << 3;  // in the byte that selects the operation
  const std::uint64_t to = code.at();
  copy_instruction(code, from, found);
  const std::uint64_t operands = to + call_operands_at(code_at(from));
  const auto jump = static_cast<std::uint8_t>(*code_at(operands) ^ kFromCallToJump);
  Assembler(operands).copy(reinterpret_cast<std::uint64_t>(&jump), 1);
}

bool is_no_operation(std::uint64_t at) {
  while (*code_at(at) == 0x66 || *code_at(at) == 0x2e) at++;
  const std::uint8_t* code = code_at(at);
  return code[0] == 0x90 || code[0] == 0xcc || (code[0] == 0x0f && code[1] == 0x1f);
}

}  // namespace

Moved move_instruction(Assembler& code, std::uint64_t from) {
  const Instruction found = decode(code_at(from));
  const Moved moved = {from, code.at()};
  if (found.calls)
    put_call(code, from, found);
  else if (found.short_branch)
    put_branch(code, from, found);
  else
    copy_instruction(code, from, found);
  return moved;
}

bool is_padding(std::uint64_t start, std::uint64_t end) {
  constexpr std::uint64_t kAlignment = 16;
  if ((end - 1) / kAlignment != (start - 1) / kAlignment) return false;
  for (std::uint64_t at = start; at < end; at += instruction_bytes(code_at(at)))
    if (!is_no_operation(at) || instruction_bytes(code_at(at)) == 0) return false;
  return true;
}

bool JumpWindow::find(std::uint64_t address, const Region& region) {
  while (bytes < kJumpBytes) {
    const std::uint64_t at = address + bytes;
    if (at + kLongestInstruction > region.end || is_patched(at)) return false;
    const Instruction found = decode(code_at(at));
    if (found.bytes == 0) return false;
    starts[count++] = at;
    bytes += found.bytes;
    if (found.falls_through) continue;
    if (bytes < kJumpBytes && !is_padding(address + bytes, address + kJumpBytes)) return false;
    bytes = bytes < kJumpBytes ? kJumpBytes : bytes;
  }
  return true;
}

bool JumpWindow::is_entered(const Region& region) const {
  for (std::uint32_t i = 1; i < count; i++)
    if (is_jumped_to(starts[i], region)) return true;
  return false;
}

bool JumpWindow::is_in_table(const Region& region) const {
  for (std::uint32_t i = 1; i < count; i++)
    if (is_in_jump_table(starts[i], region)) return true;
  return false;
}

bool JumpWindow::reaches(std::uint64_t stub, std::uint64_t stub_bytes) const {
  const std::int64_t reach = (std::int64_t{1} << 31) - static_cast<std::int64_t>(stub_bytes);
  for (std::uint32_t i = 0; i < count; i++) {
    const std::uint8_t distance_at = decode(code_at(starts[i])).distance_at;
    const std::int64_t distance = distance_at == 0 ? 0 : moved_distance(starts[i], distance_at, stub);
    if (distance > reach || distance < -reach) return false;
  }
  return true;
}

}  // namespace reweave::core
