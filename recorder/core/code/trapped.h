// Instructions of the program that ask the processor for something and do not fault by themselves. Their opcode, 0f and
// another byte, was replaced by 0f 06 (clts): it has the same length, is privileged, and is three times as fast to trap
// as an invalid one, which hypervisors examine first.
//
// Thread rule: the baton holder only. The table is private to the process.
#pragma once

#include "recorder/core/base/kernel_types.h"
#include "recorder/core/log/inputs.h"

namespace reweave::core {

// The second byte of the replacement.
inline constexpr std::uint8_t kPrivilegedOpcode = 0x06;

struct Trapped {
  std::uint64_t start;  // including prefixes
  std::uint8_t bytes;   // its length
  std::uint8_t opcode;  // bytes before the opcode
  std::uint8_t width;   // of the result in bits, for kinds with several widths
  std::uint8_t target;  // likewise: register number, as encoded
  wire::InputSource source;
  // Emulates the instruction for the thread that faulted there, and steps over it. False if the program is to get the
  // fault.
  bool (*emulate)(KernelContext& context, const Trapped& trapped);
};

// Code was mapped from `start` to `end`: forgets what was there before.
void forget_trapped(std::uint64_t start, std::uint64_t end);

// Remembers an instruction to be replaced. False if there is no room for more.
bool remember_trapped(const Trapped& trapped);

// True if the table is full, so that some instructions may not have been remembered.
bool is_trapped_full();

// Replaces all remembered instructions from `start` to `end` together, because each change of memory protection is
// slow.
void replace_trapped(std::uint64_t start, std::uint64_t end);

// If the faulting instruction is one of them, returns what its `emulate` returns; else false.
bool emulate_trapped(KernelContext& context);

}  // namespace reweave::core
