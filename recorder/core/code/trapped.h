// Instructions of the program that ask the processor something and do not fault by themselves. Their opcode, 0f and
// another byte, has become 0f 06 (clts): as long as before, privileged, and three times as fast to come by as an
// invalid one, which hypervisors look at first.
//
// Thread rule: the baton holder only. The table is the process's.
#pragma once

#include "recorder/core/base/kernel_types.h"
#include "recorder/core/log/inputs.h"

namespace reweave::core {

// The second byte of what is in their place.
inline constexpr std::uint8_t kPrivilegedOpcode = 0x06;

struct Trapped {
  std::uint64_t start;  // with its prefixes
  std::uint8_t bytes;   // all of them
  std::uint8_t opcode;  // bytes before the opcode
  std::uint8_t width;   // of the result in bits, where instructions of one kind differ
  std::uint8_t target;  // likewise: number of the register, as instructions count them
  wire::InputSource source;
  // Carries it out for the thread that has faulted there, and steps over it. False if the program is to have the fault.
  bool (*emulate)(KernelContext& context, const Trapped& trapped);
};

// Code was mapped from `start` to `end`: forgets what was there before.
void forget_trapped(std::uint64_t start, std::uint64_t end);

// Remembers one that is to be replaced. False if there is no room for more.
bool remember_trapped(const Trapped& trapped);

// There may have been no room for some.
bool is_trapped_full();

// Replaces all that were remembered from `start` to `end`: at once, for to change the protection of memory takes long.
void replace_trapped(std::uint64_t start, std::uint64_t end);

// If the faulting instruction is one of them: what its `emulate` does. Else false.
bool emulate_trapped(KernelContext& context);

}  // namespace reweave::core
