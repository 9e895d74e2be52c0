// System calls made by functions that a debugger calls in the program (base/debugger_call.h).
#pragma once

#include "recorder/core/base/kernel_types.h"

namespace reweave::core {

// The result of the call with those registers. Calls that only read state or allocate memory are made; writes to
// standard output and error are marked; all others fail with EPERM, or do nothing where that is harmless.
long call_for_debugger(const KernelRegisters& registers);

}  // namespace reweave::core
