// Call stacks in a trace: from the unwind tables of the code, so that code without instrumentation has them too.
// Traced replays only.
#pragma once

#include "recorder/core/base/context.h"
#include "recorder/stack_cache.h"

namespace reweave::core {

// Traces the stack of the callers of `pc` if it is not the one that the running thread's trace was told last.
void trace_call_stack(const StackRegisters& registers, std::uint64_t pc);

}  // namespace reweave::core
