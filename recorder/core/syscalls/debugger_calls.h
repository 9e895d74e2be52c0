// System calls of functions that a debugger has the program call (base/debugger_call.h).
#pragma once

#include "recorder/core/base/kernel_types.h"

namespace reweave::core {

// The result of the call with those registers. What only looks, or gives memory, is made; what the program's standard
// output and error get is marked; the rest fails with EPERM, or does nothing where that is harmless.
long call_for_debugger(const KernelRegisters& registers);

}  // namespace reweave::core
