// Signals that an instruction caused: the target's, or ours by design. They are delivered where they occur, and recur
// by themselves in replay.
#pragma once

#include "recorder/core/base/kernel_types.h"

namespace reweave::core {

// A synchronous signal; also one that was sent.
extern "C" [[gnu::visibility("hidden")]] void core_on_fault(int number, void* info, void* context);

// A signal that the instruction before `context` caused, by design: delivered now, or the process dies of it.
void force_signal(KernelContext& context, int number, const void* info);

}  // namespace reweave::core
