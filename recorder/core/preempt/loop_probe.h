// Recording: examines a thread that has not reached a schedule point for a while.
//
// On the watchdog's signal the thread runs a few hundred instructions in single steps. If it returns to the same
// instruction with the same registers, it is waiting for another thread and is preempted. During the probe its writable
// memory is protected, so that the words that such a loop changes are known; their values become part of the instant's
// name. If later probes find the same loop, and only those words and registers changed from one probe to the next, the
// thread is waiting as well, with a counter. Any other thread is computing, and is left alone until it has stalled
// others or a signal for a while. It is then preempted at an instruction that a replay may pass very often before the
// state matches (value_trap.h).
#pragma once

#include "recorder/core/base/context.h"
#include "recorder/core/base/kernel_types.h"

namespace reweave::core {

// On SIGTRAP, and on a write fault at `address`. True if the probe caused it.
bool on_probe_step(KernelContext& context);
bool on_probe_write(KernelContext& context, std::uint64_t address);
// Another fault during a probe: ends the probe without a result.
void abandon_probe(KernelContext& context);

}  // namespace reweave::core
