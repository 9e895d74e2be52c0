#include "recorder/core/code/clock_window.h"

#include "recorder/core/code/code_patterns.h"
#include "recorder/core/code/instruction.h"
#include "recorder/core/code/jump_tables.h"
#include "recorder/core/code/patching.h"
#include "recorder/core/memory/address_space.h"

namespace reweave::core {

namespace {

constexpr std::uint64_t kMostBefore = 256;  // bytes from a function's entry
constexpr std::uint32_t kStackWords = 8;    // searched for the return address

std::uint64_t stack_word(std::uint64_t address) {
  std::uint64_t word = 0;
  if (bytes_there(address, sizeof word) == sizeof word)
    memcpy(&word, reinterpret_cast<const void*>(address), sizeof word);
  return word;
}

// The target of the call that returns to `after`; 0 if there is none.
std::uint64_t called_before(std::uint64_t after, const Region& region) {
  if (after < region.start + kJumpBytes || after > region.end || !is_at(after - kJumpBytes, kCall)) return 0;
  return target_of(after - kJumpBytes + sizeof kCall);
}

std::uint64_t find_entry(std::uint64_t start, const KernelRegisters& r, const Region& region) {
  std::uint64_t entry = 0;
  const auto consider = [&](std::uint64_t word) {
    const std::uint64_t target = called_before(word, region);
    if (target < start && start - target < kMostBefore && target > entry) entry = target;
  };
  for (std::uint32_t i = 0; i < kStackWords; i++) consider(stack_word(r.rsp + 8 * i));
  consider(stack_word(r.rbp + 8));
  return entry;
}

// Addresses of the last instructions on the straight path from `entry` to `start`, the last first; terminated by 0.
struct Before {
  std::uint64_t starts[kJumpBytes + 1] = {};

  Before(std::uint64_t entry, std::uint64_t start) {
    std::uint64_t at = entry;
    while (at != 0 && at < start) {
      const Instruction found = decode(code_at(at));
      if (found.bytes == 0 || !found.falls_through) {
        forget();
        return;
      }
      for (std::uint64_t i = kJumpBytes - 1; i > 0; i--) starts[i] = starts[i - 1];
      starts[0] = at;
      at += found.bytes;
    }
    if (at != start) forget();
  }

 private:
  void forget() {
    for (std::uint64_t& each : starts) each = 0;
  }
};

bool is_a_way_in(std::uint64_t at, const Region& region) {
  return is_jumped_to(at, region) || is_in_jump_table(at, region);
}

// Adds instructions at the window's end until a jump fits into it, as far as possible.
void extend_behind(ClockWindow& window, const Region& region) {
  while (window.end - window.start < kJumpBytes) {
    const std::uint64_t at = window.end;
    if (at + kLongestInstruction > region.end || is_patched(at) || is_a_way_in(at, region)) return;
    const Instruction found = decode(code_at(at));
    if (found.bytes == 0) return;
    window.starts[window.count++] = at;
    window.end += found.bytes;
    if (found.falls_through) continue;
    const std::uint64_t wanted = window.start + kJumpBytes;
    if (window.end < wanted && is_padding(window.end, wanted)) window.end = wanted;
    return;
  }
}

// The window with `before` instructions before the read.
ClockWindow window_with(std::uint64_t start, std::uint64_t after, const Before& known, std::uint32_t before,
                        const Region& region) {
  ClockWindow window = {before == 0 ? start : known.starts[before - 1], after, before, before, {}};
  for (std::uint32_t i = 0; i < before; i++) window.starts[i] = known.starts[before - 1 - i];
  for (std::uint32_t i = 1; i < before; i++)
    if (is_a_way_in(window.starts[i], region)) return {};
  if (before != 0 && (is_a_way_in(start, region) || is_patched(window.start))) return {};
  extend_behind(window, region);
  return window.end - window.start >= kJumpBytes ? window : ClockWindow{};
}

}  // namespace

ClockWindow find_clock_window(std::uint64_t start, std::uint64_t after, const KernelRegisters& registers,
                              const Region& region) {
  ClockWindow window = window_with(start, after, Before(0, 0), 0, region);
  if (window.start != 0) return window;
  const Before known(find_entry(start, registers, region), start);
  for (std::uint32_t before = 1; before < kJumpBytes && known.starts[before - 1] != 0; before++) {
    window = window_with(start, after, known, before, region);
    if (window.start != 0) return window;
  }
  return {};
}

ClockFunction find_clock_function(std::uint64_t start, std::uint64_t after, const KernelRegisters& registers,
                                  const Region& region) {
  const std::uint64_t back = stack_word(registers.rsp);
  const bool found = after < region.end && is_at(after, kReturn) && called_before(back, region) == start;
  if (!found || is_patched(back - kJumpBytes)) return {};
  return {back - kJumpBytes, {start, after + sizeof kReturn, 0, 1, {after}}};
}

}  // namespace reweave::core
