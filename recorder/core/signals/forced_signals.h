// Signals that cannot wait for a schedule point, because an instruction caused them. They are delivered where they
// occur; in a replay, re-executing the instruction raises them again.
#pragma once

#include "recorder/core/base/kernel_types.h"

namespace reweave::core {

// Logs the signal and runs its handler now, or the process dies of it. `recurs`: as for die_on_return.
void take_synchronous_signal(KernelContext& context, int number, const void* info, bool recurs);

// Delivers a signal for a reason of the kernel's or the core's own, at the instruction before `context`.
void force_signal(KernelContext& context, int number, const void* info);

}  // namespace reweave::core
