// Tracing: writes wire::KernelStep records. For kernel_steps*.cc.
#pragma once

#include "formats/wire.h"
#include "recorder/core/base/context.h"
#include "recorder/core/log/log.h"
#include "recorder/core/syscalls/call.h"

namespace reweave::core {

using wire::KernelPlace;
using wire::KernelStep;

inline void note_step(std::uint64_t pc, KernelStep step, std::uint64_t address, std::uint64_t extra) {
  auto* words = reinterpret_cast<std::uint64_t*>(reserve_out(24));
  words[0] = wire::pack_word0(wire::kKernelStepKind, static_cast<std::uint8_t>(step), address & 0xffffffffffff, true);
  words[1] = wire::pack_word1(pc, self().id);
  words[2] = extra;
  publish_out(24);
}

inline void note(const Call& call, KernelStep step, long address, std::uint64_t extra = 0) {
  note_step(call.context.registers.rip, step, static_cast<std::uint64_t>(address), extra);
}

// Descriptors are the low half of an argument.
inline std::uint64_t descriptor(long argument) { return static_cast<std::uint32_t>(argument); }

inline void note(const Call& call, KernelStep step, KernelPlace place, long which = 0) {
  note(call, step, static_cast<long>(place), static_cast<std::uint64_t>(which));
}

// The descriptors that the call made, or made to mean something else (kernel_steps_made.cc).
void note_made(const Call& call, long result);
// Before the call: what it opens.
void note_opens(const Call& call);
// What the call found ready to be read (kernel_steps_ready.cc).
void note_ready(const Call& call, long result);

}  // namespace reweave::core
