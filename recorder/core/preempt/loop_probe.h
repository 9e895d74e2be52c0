// Recording: looks at what a thread does that has reached no schedule point for a while.
//
// On the watchdog's signal the thread runs a few hundred instructions in single steps. If it comes back to the same
// instruction with the same registers, it waits for another thread: it is preempted. Meanwhile its writable memory is
// protected, so that the words which such a loop changes are known; their values belong to the instant's name. If
// later looks find the same loop, and nothing but those words and registers changed from one look to the next, the
// thread waits as well, and counts. Any other thread computes, and is left alone until it has stalled others or a
// signal for a while; it is then preempted at an instruction that a replay may come by very often, until all is as it
// was (value_trap.h).
#pragma once

#include "recorder/core/base/context.h"
#include "recorder/core/base/kernel_types.h"

namespace reweave::core {

// SIGTRAP / a write fault at `address`. True if the probe caused it.
bool on_probe_step(KernelContext& context);
bool on_probe_write(KernelContext& context, std::uint64_t address);
// Another fault while probing: the probe ends without result.
void abandon_probe(KernelContext& context);

}  // namespace reweave::core
