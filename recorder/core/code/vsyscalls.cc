#include "recorder/core/code/vsyscalls.h"

#include <sys/syscall.h>

#include "recorder/core/code/stubs.h"

namespace reweave::core {

namespace {

constexpr std::uint32_t kVsyscallPage = 0xff600000;  // its address, sign-extended
constexpr std::uint32_t kApart = 0x400;              // distance between the entries
constexpr std::uint32_t kCalls[] = {SYS_gettimeofday, SYS_time, SYS_getcpu};
constexpr std::uint32_t kCallCount = sizeof kCalls / sizeof kCalls[0];
constexpr std::uint64_t kEntryBytes = 16, kStubBytes = 64;
constexpr std::uint8_t kMoveEax[] = {0xb8}, kCallAndReturn[] = {0x0f, 0x05, 0xc3};

std::uint64_t stub;

// The address must fit in a 32-bit constant, so it is in the area for programs at fixed addresses.
bool have_stub() {
  if (stub != 0) return true;
  constexpr std::uint64_t kEnd = kLowStubArea.start + kLowStubArea.bytes;
  static_assert(kEnd < 0x8000'0000);
  const std::uint64_t place = new_stub(kEnd, kStubBytes);
  if (place == 0) return false;
  const Writable page(place, kStubBytes);
  if (!page.done()) return false;
  for (std::uint32_t i = 0; i < kCallCount; i++) {
    Assembler code(place + i * kEntryBytes);
    code.put(kMoveEax);
    code.copy(reinterpret_cast<std::uint64_t>(&kCalls[i]), sizeof kCalls[i]);
    code.put(kCallAndReturn);
  }
  stub = place;
  return true;
}

// The call whose address `constant` is; kCallCount: none.
std::uint32_t call_at(const std::uint8_t* constant) {
  std::uint32_t address;
  memcpy(&address, constant, sizeof address);
  const std::uint32_t offset = address - kVsyscallPage;
  return offset % kApart == 0 && offset / kApart < kCallCount ? offset / kApart : kCallCount;
}

// If `code` is a `mov $constant` to a register, or to a variable in the stack frame as in unoptimised code: returns the
// address of the constant, and the register (kInFrame for a variable). `code` points after the REX prefix.
constexpr std::uint32_t kInFrame = 16;
struct Move {
  const std::uint8_t* constant;  // null: it is no such instruction
  std::uint32_t destination;
};

Move move_at(const std::uint8_t* code) {
  if (code[0] != 0xc7 || (code[-1] & 0xfe) != 0x48) return {};
  const std::uint32_t low = code[1] & 7u;
  const std::uint32_t form = code[1] & 0xf8u;
  if (form == 0xc0) return {code + 2, low | (code[-1] & 1u) << 3};
  const bool by_rbp = low == 5 && code[-1] == 0x48, by_rsp = low == 4 && code[2] == 0x24 && code[-1] == 0x48;
  if (!(form == 0x40 || form == 0x80) || !(by_rbp || by_rsp)) return {};
  return {code + 2 + (by_rsp ? 1 : 0) + (form == 0x40 ? 1 : 4), kInFrame};
}

// True if `code` calls or jumps through the register; for a variable, which was loaded into a register first, through
// any register.
bool goes_through(const std::uint8_t* code, std::uint32_t destination) {
  const bool indirect = code[0] == 0xff && ((code[1] & 0xf8) == 0xd0 || (code[1] & 0xf8) == 0xe0);
  if (!indirect || destination == kInFrame) return indirect;
  return (code[1] & 7u) == (destination & 7u) && (destination < 8 || code[-1] == 0x41);
}

// Other programs contain these addresses too (emulators and checkers), but do not call them.
bool is_called(const Move& move, std::uint64_t end) {
  constexpr std::uint32_t kKeptByCallees = 1u << 3 | 1u << 5 | 0xf000;  // rbx, rbp, r12 to r15
  const bool kept = move.destination == kInFrame || (kKeptByCallees >> move.destination & 1) != 0;
  const std::uint64_t from = reinterpret_cast<std::uint64_t>(move.constant) + 4;
  const std::uint64_t behind = kept ? 512 : 64;
  for (std::uint64_t at = from; at < from + behind && at + 2 <= end; at++)
    if (goes_through(code_at(at), move.destination)) return true;
  return false;
}

}  // namespace

bool redirect_vsyscall(std::uint64_t upper, std::uint64_t end) {
  constexpr std::uint64_t kLeast = 2, kMost = 7;  // bytes from the opcode to the constant
  const std::uint64_t constant = upper - 2;
  const std::uint32_t call = call_at(code_at(constant));
  for (std::uint64_t bytes = kLeast; bytes <= kMost && call != kCallCount; bytes++) {
    const Move move = move_at(code_at(constant - bytes));
    if (move.constant != code_at(constant) || !is_called(move, end) || !have_stub()) continue;
    const auto entry = static_cast<std::uint32_t>(stub + call * kEntryBytes);
    const Writable page(constant, sizeof entry);
    if (page.done()) memcpy(reinterpret_cast<void*>(constant), &entry, sizeof entry);
    return true;
  }
  return false;
}

}  // namespace reweave::core
