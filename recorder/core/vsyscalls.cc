#include "recorder/core/vsyscalls.h"

#include <sys/syscall.h>

#include "recorder/core/stubs.h"

namespace reweave::core {

namespace {

constexpr std::uint32_t kVsyscallPage = 0xff600000;  // its address, sign-extended
constexpr std::uint32_t kApart = 0x400;              // one call's entry from the next
constexpr std::uint32_t kCalls[] = {SYS_gettimeofday, SYS_time, SYS_getcpu};
constexpr std::uint32_t kCallCount = sizeof kCalls / sizeof kCalls[0];
constexpr std::uint64_t kEntryBytes = 16, kStubBytes = 64;
constexpr std::uint8_t kMoveEax[] = {0xb8}, kCallAndReturn[] = {0x0f, 0x05, 0xc3};

std::uint64_t stub;

// An address that fits in a constant of 32 bits: of the area for programs at fixed addresses.
bool have_stub() {
  if (stub != 0) return true;
  constexpr const StubArea& kLow = kStubAreas[2];
  static_assert(kLow.start + kLow.bytes < 0x8000'0000);
  const std::uint64_t place = new_stub(kLow.start + kLow.bytes, kStubBytes);
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

// Which of the calls `mov $constant, %register` at `code` means, behind its REX prefix; kCallCount: none.
std::uint32_t call_of(const std::uint8_t* code) {
  if (code[0] != 0xc7 || (code[1] & 0xf8) != 0xc0 || (code[-1] & 0xfe) != 0x48) return kCallCount;
  std::uint32_t constant;
  memcpy(&constant, code + 2, sizeof constant);
  const std::uint32_t offset = constant - kVsyscallPage;
  return offset % kApart == 0 && offset / kApart < kCallCount ? offset / kApart : kCallCount;
}

}  // namespace

void redirect_vsyscalls(std::uint64_t word) {
  for (std::uint64_t at = word; at < word + 8; at++) {
    const std::uint32_t call = call_of(code_at(at));
    if (call == kCallCount || !have_stub()) continue;
    const auto entry = static_cast<std::uint32_t>(stub + call * kEntryBytes);
    const Writable page(at + 2, sizeof entry);
    if (page.done()) memcpy(reinterpret_cast<void*>(at + 2), &entry, sizeof entry);
  }
}

}  // namespace reweave::core
