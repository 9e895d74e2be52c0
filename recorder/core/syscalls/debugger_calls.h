// System calls made by functions that a debugger calls in the program (base/debugger_call.h).
#pragma once

#include "recorder/core/base/kernel_types.h"

namespace reweave::core {

// Returns the result of the call with these registers. Makes calls that only read state or allocate memory, and marks
// writes to standard output and error. All other calls fail with EPERM, or do nothing where that is harmless.
long call_for_debugger(const KernelRegisters& registers);

}  // namespace reweave::core
