// Call stacks in a trace, from the code's unwind tables, so that uninstrumented code has them too. Traced replays only.
#pragma once

#include "recorder/core/base/context.h"
#include "recorder/stack_cache.h"

namespace reweave::core {

// Traces the stack of the callers of `pc`, unless it equals the one last traced for the running thread.
void trace_call_stack(const StackRegisters& registers, std::uint64_t pc);

}  // namespace reweave::core
