// Tracing: operations of the kernel that other threads may wait for, as wire::KernelStep records.
//
// Thread rule: the baton holder only.
#pragma once

#include "recorder/core/log/log.h"

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

// This thread receives a signal.
inline void trace_signal(std::uint64_t pc) {
  note_step(pc, KernelStep::kTakes, static_cast<std::uint64_t>(KernelPlace::kTasks), 0);
}

}  // namespace reweave::core
