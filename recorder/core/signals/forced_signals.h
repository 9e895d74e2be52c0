// Signals that cannot wait for a schedule point: an instruction caused them. They are delivered where they occur, and
// in replay executing the instruction raises them again.
#pragma once

#include "recorder/core/base/kernel_types.h"

namespace reweave::core {

// The signal is logged and its handler runs now, or the process dies of it. `recurs`: as for die_on_return.
void take_synchronous_signal(KernelContext& context, int number, const void* info, bool recurs);

// A signal that the instruction before `context` caused, by design.
void force_signal(KernelContext& context, int number, const void* info);

}  // namespace reweave::core
